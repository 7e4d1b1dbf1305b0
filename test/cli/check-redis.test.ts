import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findRedisFault, isRedisNewEnough } from "../../src/cli/check-redis.ts";
import { loadConfig } from "../../src/config/config.ts";
import { makeCertificates } from "../support/certificates.ts";
import { freePort } from "../support/free-port.ts";
import { type RedisCluster, startRedisCluster } from "../support/redis-cluster.ts";
import { type RedisSentinel, startRedisSentinel } from "../support/redis-sentinel.ts";
import { type RedisServer, startRedisServer, testRedisUrl } from "../support/redis-server.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { runTollgate } from "./run-tollgate.ts";

const SCRIPTS = ["+eval", "+evalsha", "+time"];
const SCRIPT_RIGHTS = [...SCRIPTS, "+@string", "+@sortedset", "+pexpire"];

function findFault(url: string) {
  return findRedisFault(loadConfig({ REDIS_URL: url }, { folder: tempFolder() }).limiter.redis);
}

describe("findRedisFault", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer({ password: "right-canary" });
    await server.ask("ACL", "SETUSER", "reader", "on", ">pw-canary", "+info", "+ping");
    await server.ask("ACL", "SETUSER", "scripts", "on", ">pw-canary", "~tollgate:*", ...SCRIPT_RIGHTS);
    await server.ask("ACL", "SETUSER", "watcher", "on", ">pw-canary", "~tollgate:*", "+@read", ...SCRIPTS);
  });
  afterAll(() => server.stop());
  const at = (login: string, path = "") => `redis://${login}127.0.0.1:${server.port}${path}`;

  test("is content without a Redis, and with one that answers", async () => {
    expect(await findRedisFault(undefined)).toBeUndefined();
    expect(await findFault(await testRedisUrl())).toBeUndefined();
    expect(await findFault(at(":right-canary@", "/15"))).toBeUndefined();
    expect(await findFault(at("scripts:pw-canary@"))).toBeUndefined();
  });

  test("leaves nothing behind that does not end by itself", async () => {
    expect(await findFault(server.url)).toBeUndefined();
    const keys = (await server.ask("KEYS", "*")) as string[];
    for (const key of keys) expect(Number(await server.ask("PTTL", key))).toBeWithin(1, 61_001);
  });

  test("reports a server that takes nothing at present", async () => {
    const says = "REDIS_URL: names a server that takes nothing at present, expected ";
    for (const [setting, value, usual] of [
      ["maxmemory", "1", "0"],
      ["min-replicas-to-write", "1", "0"],
    ] as const) {
      await server.ask("CONFIG", "SET", setting, value);
      const fault = await findFault(server.url);
      await server.ask("CONFIG", "SET", setting, usual);
      expect(fault).toStartWith(says);
    }
  });

  test.each([
    ["no password", "", "", "has a user or a password that the server refuses"],
    ["a wrong password", ":wrong-canary@", "", "has a user or a password that the server refuses"],
    ["a wrong user", "nobody-canary:right-canary@", "", "has a user or a password that the server refuses"],
    [
      "a database that is not there",
      ":right-canary@",
      "/99",
      "names a database that the server does not have",
    ],
    ["a user without scripts", "reader:pw-canary@", "", "names a user who may not run the limiter's scripts"],
    [
      "a user whose scripts may not write",
      "watcher:pw-canary@",
      "",
      "names a user who may not run the limiter's scripts",
    ],
  ])("reports %s and repeats nothing of the URL", async (_, login, path, says) => {
    const fault = await findFault(at(login, path));
    expect(fault).toStartWith(`REDIS_URL: ${says}, expected `);
    expect(fault).not.toContain("canary");
  });

  test("reports a closed port and a host without an address", async () => {
    const says = "REDIS_URL: names a server that cannot be reached, expected ";
    expect(await findFault(`redis://:canary@127.0.0.1:${freePort()}`)).toStartWith(says);
    expect(await findFault("redis://nowhere.invalid")).toStartWith(says);
    expect(await findFault(`redis+cluster://127.0.0.1:${freePort()}`)).toStartWith(says);
    expect(await findFault(`redis+sentinel://127.0.0.1:${freePort()}/m`)).toStartWith(says);
  });

  test("reports a server that is not Redis", async () => {
    const web = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("canary") });
    const fault = await findFault(`redis://127.0.0.1:${web.port}`);
    await web.stop(true);
    expect(fault).toStartWith("REDIS_URL: names a server that ");
    expect(fault).not.toContain("canary");
  });

  test("reports a replica", async () => {
    const replica = await startRedisServer();
    await replica.ask("REPLICAOF", "127.0.0.1", server.port);
    expect(await findFault(replica.url)).toBe("REDIS_URL: names a replica, expected its master");
    await replica.stop();
  });

  test.each(["single", "sentinel", "cluster"] as const)(
    "ends soon when a server accepts the connection and says nothing (%s)",
    async (kind) => {
      const silent = await startRedisServer();
      silent.freeze();
      const startedAt = performance.now();
      const fault = await findRedisFault({ ...silent.location, kind, masterName: "m" });
      const tookMs = performance.now() - startedAt;
      await silent.stop();
      expect(fault).toStartWith("REDIS_URL: names a server that cannot be reached, expected ");
      expect(tookMs).toBeLessThan(60_000);
    },
  );
});

describe("findRedisFault in TLS", () => {
  const certificates = makeCertificates();
  const others = makeCertificates();
  let server: RedisServer;
  let plain: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer({ tls: { certificates, demandsCertificate: true } });
    plain = await startRedisServer();
  });
  afterAll(async () => {
    await Promise.all([server.stop(), plain.stop()]);
    certificates[Symbol.dispose]();
    others[Symbol.dispose]();
  });

  test("is content with certificates that both sides trust", async () => {
    const tls = { ca: certificates.authority, ...certificates.caller };
    expect(await findRedisFault({ ...server.location, tls })).toBeUndefined();
  });

  test("reports an authority that is not the server's", async () => {
    const tls = { ca: others.authority, ...certificates.caller };
    expect(await findRedisFault({ ...server.location, tls })).toContain("see REDIS_TLS_CA");
  });

  test("reports that the server trusts no certificate of ours", async () => {
    const tls = { ca: certificates.authority, ...others.caller };
    expect(await findRedisFault({ ...server.location, tls })).toStartWith("REDIS_URL: names a server ");
    const none = { ca: certificates.authority, cert: undefined, key: undefined };
    expect(await findRedisFault({ ...server.location, tls: none })).toStartWith("REDIS_URL: names a server ");
  });

  test("reports plain text where TLS is spoken, and TLS where plain text is", async () => {
    expect(await findRedisFault({ ...server.location, tls: undefined })).toContain(
      "in TLS or not as the URL",
    );
    expect(await findFault((await testRedisUrl()).replace("redis:", "rediss:"))).toContain(
      "in TLS or not as the URL",
    );
  });
});

describe("findRedisFault of sentinels", () => {
  let sentinels: RedisSentinel;
  beforeAll(async () => {
    sentinels = await startRedisSentinel();
  });
  afterAll(() => sentinels.stop());

  test("is content when one of them names a master that answers", async () => {
    expect(await findFault(sentinels.url)).toBeUndefined();
    expect(await findFault(sentinels.url.replace("//", `//127.0.0.1:${freePort()},`))).toBeUndefined();
  });

  test("reports a master that they do not know", async () => {
    expect(await findFault(`${sentinels.url}-of-another`)).toStartWith("REDIS_URL: names a master that ");
  });

  test("reports a sentinel in place of a server, and a server in place of a sentinel", async () => {
    const { sentinel } = sentinels;
    expect(await findFault(sentinel.url)).toStartWith(
      "REDIS_URL: names a sentinel, expected redis+sentinel:",
    );
    const { port } = await sentinels.master();
    expect(await findFault(`redis+sentinel://127.0.0.1:${port}/m`)).toStartWith(
      "REDIS_URL: names a server that is no sentinel, expected redis:",
    );
  });
});

describe("findRedisFault of a cluster", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());

  test("is content when all of its masters answer", async () => {
    expect(await findFault(cluster.url)).toBeUndefined();
  });

  test("reports a node in place of the cluster, and a server that is no cluster", async () => {
    expect(await findFault(cluster.nodes[0]?.url ?? "")).toStartWith("REDIS_URL: names a node of a cluster");
    const alone = await startRedisServer();
    const fault = await findFault(alone.url.replace("redis:", "redis+cluster:"));
    await alone.stop();
    expect(fault).toStartWith("REDIS_URL: names a server that is no cluster, expected redis:");
  });

  test("reports that a master is away", async () => {
    const [, second] = cluster.nodes;
    await second?.kill();
    expect(await findFault(cluster.url)).toStartWith("REDIS_URL: names a server that cannot be reached");
    await second?.start();
  });

  test("reports that nobody serves the slots", async () => {
    await Promise.all(cluster.nodes.map((node) => node.ask("CLUSTER", "FLUSHSLOTS")));
    expect(await findFault(cluster.url)).toStartWith("REDIS_URL: names a cluster that is down");
  });
});

describe("isRedisNewEnough", () => {
  test.each(["6.2.0", "6.2.14", "6.10.0", "7.0.15", "8.0.0", "10.0.0"])("%p is", (version) => {
    expect(isRedisNewEnough(version)).toBe(true);
  });

  test.each(["6.0.20", "5.0.14", "2.8.9", ""])("%p is not", (version) => {
    expect(isRedisNewEnough(version)).toBe(false);
  });
});

describe("tollgate check", () => {
  test("says where limits are counted, and ends", async () => {
    const { url, port, stop } = await startRedisServer({ password: "pass-canary" });
    const checked = await runTollgate(tempFolder(), ["check"], { REDIS_URL: url });
    await stop();
    expect(checked).toMatchObject({ exitCode: 0, stderr: "" });
    expect(checked.stdout).toEndWith(` Limits are counted in Redis: 127.0.0.1:${port}.\n`);
  });

  test("reports a Redis that cannot be used, without user and password", async () => {
    const REDIS_URL = `redis://user-canary:pass-canary@127.0.0.1:${freePort()}`;
    const checked = await runTollgate(tempFolder(), ["check", "--json"], { REDIS_URL });
    expect(checked.exitCode).toBe(1);
    expect(checked.json().problems).toEqual([
      expect.stringMatching(/^REDIS_URL: names a server that cannot/),
    ]);
    expect(checked.stdout + checked.stderr).not.toContain("canary");
  });
});
