import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findRedisProblem, isRedisNewEnough } from "../../../src/cli/check/redis.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { makeCertificates } from "../../support/certificates.ts";
import { freePort } from "../../support/free-port.ts";
import { type RedisCluster, startRedisCluster } from "../../support/redis-cluster.ts";
import { type RedisSentinel, startRedisSentinel } from "../../support/redis-sentinel.ts";
import { type RedisServer, startRedisServer, testRedisUrl } from "../../support/redis-server.ts";
import { tempFolder } from "../../support/temp-folder.ts";
import { until } from "../../support/until.ts";
import { runTollgate } from "../run-tollgate.ts";

const SCRIPTS = ["+eval", "+evalsha", "+time"];
const SCRIPT_RIGHTS = [...SCRIPTS, "+@string", "+@sortedset", "+pexpire"];

function findProblem(url: string) {
  return findRedisProblem(loadConfig({ REDIS_URL: url }, { folder: tempFolder() }).limiter.redis);
}

describe("findRedisProblem", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer({ password: "right-canary" });
    await server.ask("ACL", "SETUSER", "reader", "on", ">pw-canary", "+info", "+ping");
    await server.ask("ACL", "SETUSER", "scripts", "on", ">pw-canary", "~tollgate:*", ...SCRIPT_RIGHTS);
    await server.ask("ACL", "SETUSER", "watcher", "on", ">pw-canary", "~tollgate:*", "+@read", ...SCRIPTS);
  });
  afterAll(() => server.stop());
  const at = (login: string, path = "") => `redis://${login}127.0.0.1:${server.port}${path}`;

  test("accepts no Redis, and a Redis that answers", async () => {
    expect(await findRedisProblem(undefined)).toBeUndefined();
    expect(await findProblem(await testRedisUrl())).toBeUndefined();
    expect(await findProblem(at(":right-canary@", "/15"))).toBeUndefined();
    expect(await findProblem(at("scripts:pw-canary@"))).toBeUndefined();
  });

  test("leaves only keys that expire within 61 s", async () => {
    expect(await findProblem(server.url)).toBeUndefined();
    const keys = (await server.ask("KEYS", "*")) as string[];
    for (const key of keys) expect(Number(await server.ask("PTTL", key))).toBeWithin(1, 61_001);
  });

  test("reports a server that rejects writes", async () => {
    const expected = "REDIS_URL: names a server that rejects writes, expected ";
    for (const [setting, value, usual] of [
      ["maxmemory", "1", "0"],
      ["min-replicas-to-write", "1", "0"],
    ] as const) {
      await server.ask("CONFIG", "SET", setting, value);
      const problem = await findProblem(server.url);
      await server.ask("CONFIG", "SET", setting, usual);
      expect(problem).toStartWith(expected);
    }
  });

  test.each([
    ["a missing password", "", "", "has a user or a password that the server rejects"],
    ["a wrong password", ":wrong-canary@", "", "has a user or a password that the server rejects"],
    ["a wrong user", "nobody-canary:right-canary@", "", "has a user or a password that the server rejects"],
    [
      "a database number that does not exist",
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
  ])("reports %s and quotes nothing of the URL", async (_, login, path, expected) => {
    const problem = await findProblem(at(login, path));
    expect(problem).toStartWith(`REDIS_URL: ${expected}, expected `);
    expect(problem).not.toContain("canary");
  });

  test("reports a closed port and a host name that does not resolve", async () => {
    const expected = "REDIS_URL: names a server that cannot be reached, expected ";
    expect(await findProblem(`redis://:canary@127.0.0.1:${freePort()}`)).toStartWith(expected);
    expect(await findProblem("redis://nowhere.invalid")).toStartWith(expected);
    expect(await findProblem(`redis+cluster://127.0.0.1:${freePort()}`)).toStartWith(expected);
    expect(await findProblem(`redis+sentinel://127.0.0.1:${freePort()}/m`)).toStartWith(expected);
  });

  test("reports a server that is not Redis", async () => {
    const web = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("canary") });
    const problem = await findProblem(`redis://127.0.0.1:${web.port}`);
    await web.stop(true);
    expect(problem).toStartWith("REDIS_URL: names a server that ");
    expect(problem).not.toContain("canary");
  });

  test("reports a replica", async () => {
    const replica = await startRedisServer();
    await replica.ask("REPLICAOF", "127.0.0.1", server.port);
    expect(await findProblem(replica.url)).toBe("REDIS_URL: names a replica, expected its master");
    await replica.stop();
  });

  test.each(["single", "sentinel", "cluster"] as const)(
    "ends within its time limit when a server accepts the connection and sends nothing (%s)",
    async (kind) => {
      const silent = await startRedisServer();
      silent.freeze();
      const startedAt = performance.now();
      const problem = await findRedisProblem({ ...silent.location, kind, masterName: "m" });
      const tookMs = performance.now() - startedAt;
      await silent.stop();
      expect(problem).toStartWith("REDIS_URL: names a server that cannot be reached, expected ");
      expect(tookMs).toBeLessThan(60_000);
    },
  );
});

describe("findRedisProblem with TLS", () => {
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

  test("accepts certificates that both sides trust", async () => {
    const tls = { ca: certificates.authority, ...certificates.caller };
    expect(await findRedisProblem({ ...server.location, tls })).toBeUndefined();
  });

  test("reports a server certificate of another authority", async () => {
    const tls = { ca: others.authority, ...certificates.caller };
    expect(await findRedisProblem({ ...server.location, tls })).toContain("see REDIS_TLS_CA");
  });

  test("reports a missing or untrusted client certificate", async () => {
    const tls = { ca: certificates.authority, ...others.caller };
    expect(await findRedisProblem({ ...server.location, tls })).toStartWith("REDIS_URL: names a server ");
    const none = { ca: certificates.authority, cert: undefined, key: undefined };
    expect(await findRedisProblem({ ...server.location, tls: none })).toStartWith(
      "REDIS_URL: names a server ",
    );
  });

  test("reports plain text to a TLS server, and TLS to a plain-text server", async () => {
    expect(await findRedisProblem({ ...server.location, tls: undefined })).toContain(
      "with or without TLS as in the URL",
    );
    expect(await findProblem((await testRedisUrl()).replace("redis:", "rediss:"))).toContain(
      "with or without TLS as in the URL",
    );
  });
});

describe("findRedisProblem with sentinels", () => {
  let sentinels: RedisSentinel;
  beforeAll(async () => {
    sentinels = await startRedisSentinel();
  });
  afterAll(() => sentinels.stop());

  test("accepts sentinels of which one names a master that answers", async () => {
    expect(await findProblem(sentinels.url)).toBeUndefined();
    expect(await findProblem(sentinels.url.replace("//", `//127.0.0.1:${freePort()},`))).toBeUndefined();
  });

  test("reports an unknown master", async () =>
    expect(await findProblem(`${sentinels.url}-of-another`)).toStartWith("REDIS_URL: names a master that "));

  test("reports a sentinel in place of a server, and a server in place of a sentinel", async () => {
    const { sentinel } = sentinels;
    expect(await findProblem(sentinel.url)).toStartWith(
      "REDIS_URL: names a sentinel, expected redis+sentinel:",
    );
    const { port } = await sentinels.master();
    expect(await findProblem(`redis+sentinel://127.0.0.1:${port}/m`)).toStartWith(
      "REDIS_URL: names a server that is not a sentinel, expected redis:",
    );
  });
});

describe("findRedisProblem with a cluster", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster.stop());
  const askNodes = (command: string) =>
    Promise.all(cluster.nodes.map((node) => node.ask("CLUSTER", command)));

  test("accepts a cluster whose masters all answer", async () =>
    expect(await findProblem(cluster.url)).toBeUndefined());

  test("reports a node in place of its cluster, and a server that is not a cluster", async () => {
    expect(await findProblem(cluster.nodes[0]?.url ?? "")).toStartWith(
      "REDIS_URL: names a node of a cluster",
    );
    const alone = await startRedisServer();
    const problem = await findProblem(alone.url.replace("redis:", "redis+cluster:"));
    await alone.stop();
    expect(problem).toStartWith("REDIS_URL: names a server that is not a cluster, expected redis:");
  });

  test("reports a master that does not answer", async () => {
    const [, second] = cluster.nodes;
    await second?.kill();
    expect(await findProblem(cluster.url)).toStartWith("REDIS_URL: names a server that cannot be reached");
    await second?.start();
    await until(async () => !(await askNodes("NODES")).some((view) => /\bfail/.test(`${view}`)));
  });

  test("reports slots that no node serves", async () => {
    await askNodes("FLUSHSLOTS");
    // The nodes agree after a moment. Until then the problem may be a node that the cluster has just lost.
    let problem: string | undefined;
    await until(
      async () => {
        problem = await findProblem(cluster.url);
        return problem?.startsWith("REDIS_URL: names a cluster that is down") ?? false;
      },
      () => `The last problem was: ${problem}`,
    );
  });
});

describe("isRedisNewEnough", () => {
  test.each(["6.2.0", "6.2.14", "6.10.0", "7.0.15", "8.0.0", "10.0.0"])("accepts %p", (version) => {
    expect(isRedisNewEnough(version)).toBe(true);
  });

  test.each(["6.0.20", "5.0.14", "2.8.9", ""])("rejects %p", (version) => {
    expect(isRedisNewEnough(version)).toBe(false);
  });
});

describe("tollgate check", () => {
  test("prints the Redis that counts limits, and exits", async () => {
    const { url, port, stop } = await startRedisServer({ password: "pass-canary" });
    const checked = await runTollgate(tempFolder(), ["check"], { REDIS_URL: url });
    await stop();
    expect(checked).toMatchObject({ exitCode: 0, stderr: "" });
    expect(checked.stdout).toEndWith(` Limits are counted in Redis: 127.0.0.1:${port}.\n`);
  });

  test("reports a Redis that cannot be used, and prints neither user nor password", async () => {
    const REDIS_URL = `redis://user-canary:pass-canary@127.0.0.1:${freePort()}`;
    const checked = await runTollgate(tempFolder(), ["check", "--json"], { REDIS_URL });
    expect(checked.exitCode).toBe(1);
    expect(checked.json().problems).toEqual([
      expect.stringMatching(/^REDIS_URL: names a server that cannot/),
    ]);
    expect(checked.stdout + checked.stderr).not.toContain("canary");
  });
});
