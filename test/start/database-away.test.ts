import { afterAll, beforeAll, expect, test } from "bun:test";
import { CHAT, objectOf, post } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

let server: PostgresServer;
let gateway: TestGateway;
beforeAll(async () => {
  server = await startPostgresServer();
  gateway = await startTestGateway({ database: { dialect: "postgres", url: server.url } });
});
afterAll(async () => {
  await gateway.stop();
  await server.stop();
});

const readState = () => fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": gateway.secret } });

test("a valid key gets internal_error while the database is unavailable, and works again without a restart", async () => {
  expect((await readState()).status).toBe(200);
  await server.kill();
  // The cache may know the key for half a second more, but the ledger fails at once.
  for (let until = performance.now() + 1_500; performance.now() < until; await Bun.sleep(50)) {
    await expectError(await readState(), CHAT, "internal");
    await expectError(await post(gateway, CHAT), CHAT, "internal");
  }
  let readiness = new Response();
  let report = "";
  // On a busy machine, a check may have no result in time instead.
  await until(async () => {
    readiness = await fetch(`${gateway.url}/readyz`);
    report = await readiness.text();
    return report.split('"reason":"failed"').length === 3;
  });
  expect(readiness.status).toBe(503);
  expect(JSON.parse(report)).toEqual({
    status: "not_ready",
    checks: {
      database: { ok: false, reason: "failed" },
      ledger: { ok: false, reason: "failed" },
      limiter: { ok: true, mode: "local", reason: "no_redis_configured" },
      outbox: { ok: true, entries: expect.any(Number), free_bytes: expect.any(Number) },
    },
  });
  expect(gateway.log.text()).toContain("gateway not ready");
  await server.start();
  let answer = await post(gateway, CHAT);
  await until(async () => {
    if (answer.status === 500) answer = await post(gateway, CHAT);
    return answer.status !== 500;
  });
  expect(answer.status).toBe(200);
  expect(await objectOf(answer)).toMatchObject({ object: "chat.completion" });
  // A connection of before is found out by the request that uses it.
  await until(async () => (await readState()).status === 200);
  // A result of readiness is shared for half a second.
  await until(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  expect(gateway.log.text()).not.toContain(gateway.secret);
});

test("a running stream continues while the database is unavailable", async () => {
  const held = gate();
  gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: held.opened } }));
  const stream = await post(gateway, CHAT, { stream: true });
  expect(stream.status).toBe(200);
  await server.kill();
  await until(() => gateway.log.text().includes("keys of running requests unread"));
  held.open();
  expect(await stream.text()).toEndWith("data: [DONE]\n\n");
  await server.start();
  // Just after its start, the database may refuse readers, and each connection of before fails once.
  await until(() =>
    gateway.balances().then(
      ({ held }) => held === 0n,
      () => false,
    ),
  );
});
