import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keysOf } from "../../src/limiter/redis/scripts.ts";
import { createLocation } from "../accounts/temp-storage.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import { CHAT, objectOf, post, quotedTokens, SURFACES, windowOf } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { type RedisServer, startRedisServer } from "../support/redis-server.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type ServedProcess, startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";
import { readSamples } from "../telemetry/samples.ts";

function onRedis({ location }: RedisServer, onFailure: "local" | "deny" = "local") {
  return { limiter: { redis: location, onFailure, replicas: undefined } };
}

async function keyState({ url }: Pick<TestGateway, "url">, secret: string): Promise<Record<string, unknown>> {
  return objectOf(await fetch(`${url}/v1/key`, { headers: { "x-api-key": secret } }));
}

async function keyLimit(gateway: Pick<TestGateway, "url">, secret: string): Promise<unknown> {
  const state = (await keyState(gateway, secret)) as { requests_per_minute?: { limit?: number } };
  return state.requests_per_minute?.limit;
}

describe("two gateways on one database and one Redis", () => {
  let redis: RedisServer;
  let temp: Awaited<ReturnType<typeof createLocation>>;
  let gateways: readonly [TestGateway, TestGateway];
  beforeAll(async () => {
    [redis, temp] = await Promise.all([startRedisServer(), createLocation("postgres")]);
    const options = { database: temp.location, config: onRedis(redis) };
    gateways = [await startTestGateway(options), await startTestGateway(options)];
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop();
    await temp.drop();
    await redis.stop();
  });

  /** The gateways alternate. */
  const gatewayAt = (index: number) => (index % 2 ? gateways[1] : gateways[0]);

  test.each(SURFACES)(
    "admit the requests per minute together, and count each one on $path",
    async (surface) => {
      const { secret } = await gateways[0].newKey({ limits: { requestsPerMinute: 5 } });
      const startedAt = performance.now();
      for (const remaining of [4, 3, 2, 1, 0]) {
        const response = await post(gatewayAt(remaining), surface, { secret });
        expect(response.status).toBe(200);
        expect(windowOf(response, surface, "requests")).toMatchObject({ limit: 5, remaining });
      }
      for (const gateway of gateways) {
        const limited = await post(gateway, surface, { secret });
        const elapsedS = (performance.now() - startedAt) / 1_000;
        expect(Number(limited.headers.get("retry-after"))).toBeWithin(59 - elapsedS, 61);
        expect(windowOf(limited, surface, "requests")).toMatchObject({ limit: 5, remaining: 0 });
        await expectError(limited, surface, "rate_limited");
      }
    },
  );

  test.each(SURFACES)(
    "admit no more than the limit of a hundred concurrent requests on $path",
    async (surface) => {
      const { secret } = await gateways[0].newKey({ limits: { requestsPerMinute: 10 } });
      const all = await Promise.all(
        Array.from({ length: 100 }, (_, index) => post(gatewayAt(index), surface, { secret })),
      );
      expect(all.filter(({ status }) => status === 200)).toHaveLength(10);
      expect(all.filter(({ status }) => status === 429)).toHaveLength(90);
    },
  );

  test("admit their share of a limit each while Redis is away, by the gateways that the database knows", async () => {
    const own = await startRedisServer();
    const options = { database: temp.location, config: onRedis(own) };
    // The database knows the two gateways of this group too.
    const third = await startTestGateway(options);
    const { secret } = await third.newKey({ limits: { requestsPerMinute: 9 } });
    await own.kill();
    await until(async () => (await keyLimit(third, secret)) === 3);
    const statuses = [];
    for (const _ of [1, 2, 3, 4]) {
      const response = await post(third, CHAT, { secret });
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    await third.stop();
    await own.stop();
  });

  test.each(SURFACES)("count the tokens that were really used on $path", async (surface) => {
    const { secret } = await gateways[0].newKey({ limits: { tokensPerMinute: 5_000 } });
    for (const ended of [0, 1, 2, 3, 4, 5]) {
      const stream = ended > 2;
      const response = await post(gatewayAt(ended), surface, { secret, stream });
      // Each finished request used 18 tokens.
      const remaining = 5_000 - 18 * ended - quotedTokens(surface, { stream });
      expect(windowOf(response, surface, "tokens")).toMatchObject({ limit: 5_000, remaining });
      await response.text();
    }
  });
  test("reject a request while another one runs on either gateway, and admit it once that one has ended", async () => {
    const { secret } = await gateways[0].newKey({ limits: { concurrentRequests: 1 } });
    const { opened, open } = gate();
    const [first, second] = gateways;
    first.upstream.on("chat", answerWith(undefined, { gate: opened }), answerWith());
    const running = post(first, CHAT, { secret });
    await first.upstream.waitForSeen(1);
    for (const gateway of gateways) {
      const limited = await post(gateway, CHAT, { secret });
      expect(limited.headers.get("retry-after")).toBe("1");
      await expectError(limited, CHAT, "too_concurrent");
      expect(await keyState(gateway, secret)).toMatchObject({ concurrent_requests: { limit: 1, used: 1 } });
    }
    open();
    await (await running).text();
    for (let round = 0; round < 200; round += 1) {
      const gateway = round % 2 ? first : second;
      const response = await post(gateway, CHAT, { secret, stream: round % 4 > 1 });
      expect([round, response.status]).toEqual([round, 200]);
      await response.text();
    }
  });

  test("report equal usage to a key", async () => {
    const limits = { requestsPerMinute: 7, tokensPerMinute: 9_000, concurrentRequests: 2 };
    const { secret } = await gateways[0].newKey({ limits });
    for (const index of [0, 1, 2]) await (await post(gatewayAt(index), CHAT, { secret })).text();
    const expected = {
      requests_per_minute: { limit: 7, used: 3, remaining: 4 },
      tokens_per_minute: { limit: 9_000, used: 54, remaining: 8_946 },
      concurrent_requests: { limit: 2, used: 0 },
    };
    for (const gateway of gateways) expect(await keyState(gateway, secret)).toMatchObject(expected);
  });

  test("bound an account over all of its keys", async () => {
    const accountLimits = { requestsPerMinute: 3 };
    const options = { database: temp.location, accountLimits, config: onRedis(redis) };
    const [one, two] = [await startTestGateway(options), await startTestGateway(options)];
    const keys = [await one.newKey(), await one.newKey()];
    const statuses = [];
    for (const index of [0, 1, 2, 3]) {
      const response = await post(index > 1 ? one : two, CHAT, { secret: keys[index % 2]?.secret ?? "" });
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    await one.stop();
    await two.stop();
  });
});

describe("a gateway whose Redis is killed", () => {
  const opened: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });

  async function start(onFailure: "local" | "deny") {
    const redis = await startRedisServer();
    const gateway = await startTestGateway({ config: onRedis(redis, onFailure) });
    opened.push(gateway.stop, redis.stop);
    const { secret } = await gateway.newKey({ limits: { requestsPerMinute: 5 } });
    return { redis, gateway, secret };
  }
  const readiness = async ({ url }: TestGateway) => (await fetch(`${url}/readyz`)).status;
  const report = async ({ url }: TestGateway) => objectOf(await fetch(`${url}/readyz`));

  test("rejects every request under deny, is not ready, and recovers by itself", async () => {
    const { redis, gateway, secret } = await start("deny");
    expect((await post(gateway, CHAT, { secret })).status).toBe(200);
    expect(await readiness(gateway)).toBe(200);
    expect(await report(gateway)).toMatchObject({ checks: { limiter: { ok: true, mode: "redis" } } });
    await redis.kill();
    for (const surface of SURFACES) {
      await expectError(await post(gateway, surface, { secret }), surface, "internal");
    }
    await until(async () => (await readiness(gateway)) === 503);
    const limiter = { ok: false, mode: "deny", reason: "redis_away" };
    expect(await report(gateway)).toMatchObject({ status: "not_ready", checks: { limiter } });
    expect(gateway.upstream.seen).toHaveLength(1);
    await redis.start();
    await until(async () => (await post(gateway, CHAT, { secret })).status === 200);
    await until(async () => (await readiness(gateway)) === 200);
  });

  test("continues counting by itself under local, from what it has admitted in the minute", async () => {
    const { redis, gateway, secret } = await start("local");
    const remaining = async () => {
      const response = await post(gateway, CHAT, { secret });
      return [response.status, windowOf(response, CHAT, "requests").remaining];
    };
    expect(await remaining()).toEqual([200, 4]);
    expect(await remaining()).toEqual([200, 3]);
    await redis.kill();
    expect(await remaining()).toEqual([200, 2]);
    expect(await readiness(gateway)).toBe(200);
    const limiter = { ok: true, mode: "local", reason: "redis_away" };
    expect(await report(gateway)).toMatchObject({ status: "ready", checks: { limiter } });
    expect(await remaining()).toEqual([200, 1]);
    await redis.start();
    const changes = (): readonly string[] => gateway.log.text().match(/Redis is (away|back)/g) ?? [];
    await until(() => changes().at(-1) === "Redis is back");
    // The counts of Redis are lost; offline admissions are added to Redis.
    expect(await remaining()).toEqual([200, 2]);
    // A busy machine adds outages of its own.
    expect(changes()).toEqual(changes().map((_, index) => `Redis is ${index % 2 ? "back" : "away"}`));
  });

  test("starts without Redis, and connects once it is available", async () => {
    const redis = await startRedisServer();
    opened.push(redis.stop);
    await redis.kill();
    const startedAt = performance.now();
    const gateway = await startTestGateway({ config: onRedis(redis) });
    opened.unshift(gateway.stop);
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    expect((await post(gateway, CHAT)).status).toBe(200);
    await redis.start();
    await until(() => gateway.log.text().includes("Redis is back"));
    expect((await post(gateway, CHAT)).status).toBe(200);
  });
});

describe("a gateway in a process of its own", () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let served: ServedProcess | undefined;
  const folder = tempFolder();
  beforeAll(async () => {
    [redis, upstream] = await Promise.all([startRedisServer(), startScriptedUpstream()]);
    writeFileSync(
      join(folder, "tollgate.yaml"),
      scriptedConfig(upstream, "limits: { requests_per_minute: 2 }\ndrain_s: 8"),
    );
    await runTollgate(folder, ["account", "create", "--name", "test"]);
    await runTollgate(folder, ["topup", "--account", "test", "--amount", "100", "--id", "seed"]);
  });
  afterEach(async () => {
    served?.signal("SIGKILL");
    await served?.exitCode;
    upstream.reset();
  });
  afterAll(async () => {
    await upstream.stop();
    await redis.stop();
  });

  async function start() {
    const created = await runTollgate(folder, [
      "key",
      "create",
      "--account",
      "test",
      "--name",
      "k",
      "--json",
    ]);
    const { key: secret, id, account_id } = created.json();
    const environment = { REDIS_URL: redis.url, METRICS_LISTEN: "127.0.0.1:0" };
    served = await startServedProcess({ folder, environment });
    const { url, stdout, signal, exitCode } = served;
    const [, metrics] = /"metrics":"([^"]+)"/.exec(stdout()) ?? [];
    return {
      ask: (stream = false) =>
        fetch(`${url}${CHAT.path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}` },
          body: JSON.stringify(CHAT.body({ stream })),
        }),
      sample: async (name: string) =>
        readSamples(await (await fetch(`http://${metrics}/metrics`)).text()).get(name),
      /** The number of slots of the key that are taken in Redis. */
      async running() {
        const [, leases = ""] = keysOf({ accountId: `${account_id}`, keyId: `${id}` });
        return redis.ask("ZCARD", leases);
      },
      stdout,
      async terminate() {
        signal("SIGTERM");
        return exitCode;
      },
    };
  }

  test("counts in the Redis of REDIS_URL, and reports in its metrics when that is unavailable", async () => {
    const { ask, sample, stdout } = await start();
    expect(stdout()).toContain(`"redis":"127.0.0.1:${redis.port}"`);
    for (const status of [200, 200, 429]) expect((await ask()).status).toBe(status);
    const shared = () => sample('tollgate_limiter_shared{shard="redis"}');
    const decided = (store: string, outcome: string) =>
      sample(`tollgate_limiter_decisions_total{store="${store}",outcome="${outcome}"}`);
    expect(await shared()).toBe(1);
    expect([await decided("redis", "admitted"), await decided("redis", "rate")]).toEqual([2, 1]);
    await redis.kill();
    expect((await ask()).status).toBe(429);
    expect([await shared(), await decided("memory", "rate")]).toEqual([0, 1]);
    await redis.start();
    await until(async () => (await shared()) === 1);
  });

  test("releases its slots on SIGTERM, also those of requests that it aborts", async () => {
    const { ask, running, terminate } = await start();
    const { opened, open } = gate();
    upstream.on(
      "chat",
      answerWith(undefined, { pauseAt: { bytes: 700, gate: opened } }),
      answerWith(undefined, { gate: new Promise(() => {}) }),
    );
    const [finished, cut] = [await ask(true), ask(true).catch(() => undefined)];
    await upstream.waitForSeen(2);
    expect(await running()).toBe(2);
    const exitCode = terminate();
    open();
    expect(await finished.text()).toEndWith("data: [DONE]\n\n");
    await cut;
    expect(await exitCode).toBe(0);
    expect(await running()).toBe(0);
  });
});
