import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { networkInterfaces } from "node:os";
import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { makeCertificates } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { type RedisServer, type RedisServerOptions, startRedisServer } from "../support/redis-server.ts";
import { startTcpRelay } from "../support/tcp-relay.ts";
import { until } from "../support/until.ts";
import { createOpener, runScript, settle, untilConnected } from "./redis-client.ts";

const { open, openPatient, closeAll } = createOpener();
const servers: RedisServer[] = [];
afterEach(closeAll);
afterAll(() => Promise.all(servers.map((server) => server.stop())));

async function start(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedisServer(options);
  servers.push(server);
  return server;
}

function atPort({ location }: RedisServer, port: number): RedisLocation {
  return { ...location, hosts: [{ host: "127.0.0.1", port }] };
}

describe("a connection to one server", () => {
  test("exists at once and connects in the background", async () => {
    const connection = open((await start()).location);
    expect(connection.fault()).toBe("it is not connected yet");
    await untilConnected(connection);
    expect(await connection.client.set("a", 1)).toBe("OK");
    expect(connection.fault()).toBeUndefined();
    expect(connection.shardOf("one")).toBe(connection.shardOf("other"));
  });

  test("takes the present password when it connects again", async () => {
    const server = await start({ password: "first" });
    let password = "first";
    const connection = open({
      ...server.location,
      get password() {
        return password;
      },
    });
    await untilConnected(connection);
    const { client } = connection;
    await client.set("before", 1);
    if (!client.isCluster) await client.config("SET", "requirepass", "second");
    password = "second";
    const closed = new Promise<void>((resolve) => client.once("close", resolve));
    // The server closes every connection, this one included.
    if (!client.isCluster)
      await client.call("client", "kill", "type", "normal", "skipme", "no").catch(() => {});
    await closed;
    await untilConnected(connection);
    expect(await connection.client.set("a", 1)).toBe("OK");
  });

  test("rejects commands at once without a server, and reports the fault", async () => {
    const port = freePort();
    const { client, fault } = openPatient(atPort(await start(), port));
    await until(() => fault()?.includes(`${port}`) ?? false);
    expect(await settle(() => client.incr("a"), 100)).toEqual({ rejected: 100, late: 0 });
  });

  test("rejects commands that a killed server left open, does not resend them, and reconnects", async () => {
    const server = await start({ settings: { appendonly: "yes", appendfsync: "always" } });
    const connection = openPatient(server.location);
    await untilConnected(connection);
    server.freeze();
    const unanswered = settle(() => connection.client.incr("a"), 100);
    // Lets the commands be sent before the kill.
    await new Promise((resolve) => setImmediate(resolve));
    await server.kill();
    expect(await unanswered).toEqual({ rejected: 100, late: 0 });
    await server.start();
    await untilConnected(connection);
    expect(await connection.client.get("a")).toBeNull();
  });

  test("rejects commands that a frozen server does not answer, and continues after the thaw", async () => {
    const server = await start();
    const connection = open(server.location);
    await untilConnected(connection);
    server.freeze();
    const { rejected } = await settle(() => connection.client.incr("a"), 100);
    server.thaw();
    expect(rejected).toBe(100);
    await untilConnected(connection);
  });

  test("replaces a connection that receives nothing although it was not closed", async () => {
    const [lost, found] = await Promise.all([start(), start()]);
    const relay = await startTcpRelay(lost.port);
    const connection = open(atPort(lost, relay.port));
    await untilConnected(connection);
    relay.loseAll(found.port);
    await untilConnected(connection);
    await connection.client.set("a", 1);
    expect(await found.ask("GET", "a")).toBe("1");
    relay.stop();
  });

  test("looks for the master again when its server has become a replica", async () => {
    const [old, next] = await Promise.all([start(), start()]);
    const relay = await startTcpRelay(old.port);
    const connection = open(atPort(old, relay.port));
    await untilConnected(connection);
    const run = runScript(connection.client);
    await run("a");
    await old.ask("REPLICAOF", "127.0.0.1", next.port);
    relay.aimAt(next.port);
    await expect(run("a")).rejects.toThrow("READONLY");
    // Until its connection is closed, the old master answers reads.
    await until(() =>
      run("b").then(
        () => true,
        () => false,
      ),
    );
    expect(await next.ask("GET", "b")).toBe("1");
    relay.stop();
  });

  test("sends its scripts again when the server has dropped them", async () => {
    const server = await start();
    const connection = open(server.location);
    await untilConnected(connection);
    const run = runScript(connection.client);
    const callAll = () => Promise.all(Array.from({ length: 400 }, () => run("a")));
    await callAll();
    await server.ask("SCRIPT", "FLUSH");
    await callAll();
    await Promise.all([callAll(), server.ask("SCRIPT", "FLUSH"), callAll()]);
    expect(await connection.client.get("a")).toBe("1600");
  });

  test("reports a wrong password without repeating it", async () => {
    const server = await start({ password: "right-one" });
    const { client, fault } = open({ ...server.location, password: "wrong-one" });
    await until(() => fault()?.startsWith("WRONGPASS") ?? false);
    expect(fault()).not.toContain("wrong-one");
    expect((await settle(() => client.incr("a"), 1)).rejected).toBe(1);
  });

  test.each([
    ["a password", { password: "secret" }],
    ["a user", { user: { name: "gateway", password: "p@ss:word" } }],
  ])("logs in with %s", async (_, options) => {
    const server = await start(options);
    await untilConnected(open(server.location));
    expect(`${await server.ask("CLIENT", "LIST")}`).toContain("name=tollgate");
  });

  test("uses its configured database, also after a restart of the server", async () => {
    const server = await start();
    const connection = open({ ...server.location, db: 3 });
    await untilConnected(connection);
    await server.kill();
    await server.start();
    await untilConnected(connection);
    await connection.client.set("a", 1);
    expect(await server.ask("INFO", "keyspace")).toContain("db3:keys=1");
  });

  test("uses no other database when the server lacks the configured one", async () => {
    const server = await start();
    const { client, fault } = open({ ...server.location, db: 99 });
    await until(() => fault()?.includes("DB index") ?? false);
    let tries = 0;
    let accepted = 0;
    client.on("connecting", () => {
      tries += 1;
    });
    await until(async () => {
      await client.set("a", 1).then(
        () => {
          accepted += 1;
        },
        () => {},
      );
      return tries >= 3;
    });
    expect(accepted).toBe(0);
    expect(await server.ask("DBSIZE")).toBe(0);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
    each?.some(({ address }) => address === "::1"),
  );
  test.skipIf(!hasIpv6)("reaches a server at an IPv6 address", async () => {
    const server = await start({ settings: { bind: "127.0.0.1 ::1" } });
    await untilConnected(open({ ...server.location, hosts: [{ host: "::1", port: server.port }] }));
  });

  test("rejects commands after close and does not reconnect", async () => {
    const server = await start();
    const relay = await startTcpRelay(server.port);
    const connection = open(atPort(server, relay.port));
    await untilConnected(connection);
    connection.close();
    expect((await settle(() => connection.client.incr("a"), 1)).rejected).toBe(1);
    await until(async () => !`${await server.ask("CLIENT", "LIST")}`.includes("name=tollgate"));
    expect(relay.connections()).toBe(1);
    relay.stop();
  });
});

describe("a connection over TLS", () => {
  test("accepts a certificate of the configured authority only", async () => {
    using certificates = makeCertificates();
    using others = makeCertificates();
    const { location } = await start({ tls: { certificates } });
    await untilConnected(open(location));
    for (const ca of [others.authority, undefined]) {
      const { fault } = open({ ...location, tls: { ca, cert: undefined, key: undefined } });
      await until(() => /certificate|issuer/i.test(fault() ?? ""));
    }
  });

  test("rejects a certificate for another host name", async () => {
    using certificates = makeCertificates();
    const server = await start({ tls: { certificates }, settings: { bind: "127.0.0.1 127.0.0.2" } });
    const { fault } = open({ ...server.location, hosts: [{ host: "127.0.0.2", port: server.port }] });
    await until(() => /altname|does not match/i.test(fault() ?? ""));
  });

  test("presents a client certificate to a server that requires one", async () => {
    using certificates = makeCertificates();
    const { location } = await start({ tls: { certificates, demandsCertificate: true } });
    const { authority: ca, caller } = certificates;
    await untilConnected(open({ ...location, tls: { ca, ...caller } }));
    const { client } = open(location);
    expect((await settle(() => client.incr("a"), 1)).rejected).toBe(1);
  });
});
