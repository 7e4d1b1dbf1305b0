import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { RedisConnection } from "../../src/limiter/redis/server.ts";
import { makeCertificates } from "../support/certificates.ts";
import { type RedisCluster, type RedisClusterOptions, startRedisCluster } from "../support/redis-cluster.ts";
import { type RedisSentinelOptions, startRedisSentinel } from "../support/redis-sentinel.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { until } from "../support/until.ts";
import { createOpener, runScript, settle, untilConnected } from "./redis-client.ts";

const { open, openPatient, closeAll } = createOpener();
const started: { stop(): Promise<void> }[] = [];
afterEach(closeAll);
afterAll(() => Promise.all(started.map((each) => each.stop())));

describe("a connection through sentinels", () => {
  const start = async (options: RedisSentinelOptions = {}) => {
    const group = await startRedisSentinel(options);
    started.push(group);
    return group;
  };

  /** A connection may be open for a moment more to the old master, or close once again. */
  async function untilWritten({ client }: RedisConnection, master: RedisServer): Promise<void> {
    const value = crypto.randomUUID();
    const isSet = async () => (await client.set("a", value).catch(() => undefined)) === "OK";
    await until(async () => (await isSet()) && (await master.ask("GET", "a")) === value);
  }

  test("moves to the new master when the old one is killed or frozen", async () => {
    const lose = async (how: "kill" | "freeze") => {
      const group = await start();
      const connection = open(group.location);
      await untilConnected(connection);
      const old = await group.master();
      await old[how]();
      const next = await group.untilSwitched(old);
      await untilWritten(connection, next);
    };
    await Promise.all([lose("kill"), lose("freeze")]);
  });

  test("leaves a master that still answers as soon as a new one is announced", async () => {
    const group = await start();
    const connection = open(group.location);
    const old = await group.master();
    await untilWritten(connection, old);
    await group.sentinel.ask("SENTINEL", "FAILOVER", "mymaster");
    await untilWritten(connection, await group.untilSwitched(old));
  });

  test("connects after a disconnect during a sentinel query", async () => {
    const connection = open((await start()).location);
    await until(() => connection.client.status === "connecting");
    connection.client.disconnect(true);
    await untilConnected(connection);
  });

  test.each([true, false])(
    "logs in whether or not the sentinel requires the password: %p",
    async (isWanted) => {
      const group = await start({ password: "secret", sentinelHasPassword: isWanted });
      await untilConnected(open(group.location));
    },
  );

  test("reports a sentinel that is down or does not know the master", async () => {
    const group = await start();
    const unknown = open({ ...group.location, masterName: "other" });
    await until(() => unknown.fault()?.includes("No such master") ?? false);
    await group.sentinel.kill();
    const { fault } = open(group.location);
    await until(() => fault()?.includes(`${group.sentinel.port}`) ?? false);
  });
});

describe("a connection to a cluster", () => {
  using certificates = makeCertificates();
  const clusters = {} as Record<"plain" | "replicated" | "strict" | "secret", RedisCluster>;
  const start = async (name: keyof typeof clusters, options: RedisClusterOptions) => {
    clusters[name] = await startRedisCluster(options);
    started.push(clusters[name]);
  };
  beforeAll(() =>
    Promise.all([
      start("plain", {}),
      start("replicated", { replicas: 1 }),
      start("strict", { needsEverySlot: true }),
      start("secret", { server: { tls: { certificates }, password: "secret" } }),
    ]),
  );

  /** Returns a connection that reaches each of the three masters, and one account of each. */
  async function connect(cluster: RedisCluster, openTo = openPatient) {
    const accounts: [RedisServer, string][] = [];
    for (let n = 0; accounts.length < 3; n++) {
      const master = await cluster.masterOf(`account-${n}`);
      if (!accounts.some(([known]) => known === master)) accounts.push([master, `account-${n}`]);
    }
    const connection = openTo(cluster.location);
    await untilServed(connection, accounts);
    return { connection, client: connection.client, accounts: accounts as Three<[RedisServer, string]> };
  }
  type Three<T> = [T, T, T];

  async function untilServed(
    connection: RedisConnection,
    accounts: readonly [RedisServer, string][],
  ): Promise<void> {
    await Promise.all(accounts.map(([, account]) => untilConnected(connection, account)));
  }

  /** Makes calls for many accounts and expects each reply to belong to its own call. */
  async function expectOwnReplies(client: RedisConnection["client"]): Promise<void> {
    const calls = Array.from({ length: 60 }, async (_, n) => {
      const sent = crypto.randomUUID();
      const [reply] = await Promise.allSettled([client.eval("return ARGV[1]", 1, `{account-${n}}`, sent)]);
      if (reply?.status === "fulfilled") expect({ reply: reply.value }).toEqual({ reply: sent });
    });
    await Promise.all(calls);
  }

  test("rejects commands until it is connected, and then knows the master of each account", async () => {
    const early = openPatient(clusters.plain.location);
    const settled = await settle((n) => early.client.incr(`{account-${n}}`), 100);
    expect(settled).toEqual({ rejected: 100, late: 0 });
    const { connection, accounts } = await connect(clusters.plain);
    for (const [master, account] of accounts) {
      expect(connection.shardOf(account)).toBe(`127.0.0.1:${master.port}`);
    }
  });

  test("sends its scripts again when the nodes have dropped them", async () => {
    const { client } = await connect(clusters.plain);
    const run = runScript(client);
    const callAll = () => Promise.all(Array.from({ length: 300 }, (_, n) => run(`{script-${n % 30}}`)));
    await callAll();
    await Promise.all(clusters.plain.nodes.map((node) => node.ask("SCRIPT", "FLUSH")));
    await callAll();
    expect(await client.get("{script-7}")).toBe("20");
  });

  test("follows a slot to another master", async () => {
    const { connection, client, accounts } = await connect(clusters.plain);
    const [[, account], [next]] = accounts;
    const slot = Number(await next.ask("CLUSTER", "KEYSLOT", `{${account}}`));
    const id = `${await next.ask("CLUSTER", "MYID")}`;
    // Its claim is newer than any that a node has sent before and another receives later.
    await next.ask("CLUSTER", "BUMPEPOCH");
    for (const node of clusters.plain.nodes) await node.ask("CLUSTER", "SETSLOT", slot, "NODE", id);
    // Only part of the accounts have moved.
    await settle((n) => client.incr(`{${n % 2 ? account : `account-${n}`}}`), 100);
    await until(() => connection.shardOf(account) === `127.0.0.1:${next.port}`);
    expect((await settle(() => client.incr(`{${account}}`), 100)).rejected).toBe(0);
  });

  test("serves the accounts of the other masters while one is dead, and all accounts when it is back", async () => {
    const { connection, client, accounts } = await connect(clusters.plain);
    const [[dead, lost], ...others] = accounts;
    await dead.kill();
    await until(async () => (await settle(() => client.incr(`{${lost}}`), 1)).rejected === 1);
    for (let round = 0; round < 10; round++) {
      const [ofDead, ...ofOthers] = await Promise.all(
        [lost, ...others.map(([, account]) => account)].map((account) =>
          settle(() => client.incr(`{${account}}`), 20),
        ),
      );
      expect(ofDead).toEqual({ rejected: 20, late: 0 });
      for (const { rejected } of ofOthers) expect(rejected).toBe(0);
      // Lets some rounds coincide with an attempt to connect.
      await Bun.sleep(50);
    }
    await dead.start();
    // A restarted master waits two seconds before it serves.
    await untilConnected(connection, lost);
  });

  test("moves to the replica of a master that is killed or frozen", async () => {
    const { connection, client, accounts } = await connect(clusters.replicated, open);
    const { client: patient } = await connect(clusters.replicated);
    const lose = async ([old, account]: [RedisServer, string], how: "kill" | "freeze") => {
      await old[how]();
      expect((await settle(() => patient.incr(`{${accounts[2][1]}}`), 20)).rejected).toBe(0);
      const owner = () => clusters.replicated.masterOf(account).catch(() => old);
      await until(async () => {
        await expectOwnReplies(client);
        return (await owner()) !== old;
      });
      await untilConnected(connection, account);
      // Some nodes still name the old master for a moment.
      await until(async () => {
        await expectOwnReplies(client);
        return connection.shardOf(account) === `127.0.0.1:${(await owner()).port}`;
      });
    };
    await lose(accounts[0], "kill");
    await lose(accounts[1], "freeze");
  });

  test("rejects commands at once while the cluster is down, and recovers when all nodes restart", async () => {
    const { connection, client, accounts } = await connect(clusters.strict);
    const [[dead], [, account]] = accounts;
    await dead.kill();
    await until(async () => {
      const { rejected, late } = await settle(() => client.incr(`{${account}}`), 100);
      expect(late).toBe(0);
      return rejected === 100;
    });
    const others = clusters.strict.nodes.filter((node) => node !== dead);
    await Promise.all(others.map((node) => node.kill()));
    await until(() => connection.fault() !== undefined);
    await Promise.all(clusters.strict.nodes.map((node) => node.start()));
    await untilServed(connection, accounts);
  });

  test("logs in over TLS, and reports a wrong password without repeating it", async () => {
    await connect(clusters.secret);
    const { fault } = open({ ...clusters.secret.location, password: "wrong-one" });
    await until(() => fault()?.includes("WRONGPASS") ?? false);
    expect(fault()).not.toContain("wrong-one");
  });
});
