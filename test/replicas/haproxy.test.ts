import { afterAll, beforeAll, expect, test } from "bun:test";
import { parseUsd } from "../../src/domain/money.ts";
import { ERRORS } from "../../src/errors.ts";
import { testRedisUrl } from "../support/redis-server.ts";
import { silence } from "../support/script.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { scriptedConfig } from "../support/test-catalog.ts";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";
import { until } from "../support/until.ts";
import { openBooks } from "./books.ts";
import { startClients } from "./clients.ts";
import { type Deployment, openDeployment } from "./deployment.ts";
import { slowAnswer } from "./slow-answers.ts";

let database: TestDatabase;
let upstream: ScriptedUpstream;
let deployment: Deployment;
let secret: string;
beforeAll(async () => {
  [database, upstream] = await Promise.all([createTestDatabase(), startScriptedUpstream()]);
  upstream.on("chat", slowAnswer);
  deployment = await openDeployment({
    databaseUrl: database.url,
    redisUrl: await testRedisUrl(),
    // Long enough for a busy machine: no request of the load may be cut at the drain limit.
    configuration: scriptedConfig(upstream, "drain_delay_s: 3\ndrain_s: 120"),
  });
  secret = await createPaidKey();
});
afterAll(async () => {
  await deployment.close();
  await upstream.stop();
  await database.drop();
});

async function createPaidKey(): Promise<string> {
  await deployment.command("account", "create", "--name", "load");
  await deployment.command("topup", "--account", "load", "--amount", "100", "--id", "seed");
  const printed = await deployment.command("key", "create", "--account", "load", "--name", "k");
  return /sk-tg-[\w-]{43}/.exec(printed)?.[0] ?? "";
}

test("a rolling restart of three replicas behind HAProxy loses no request and no settlement", async () => {
  const group = { name: "load", secret, clients: 8, pauseMs: 100 };
  const clients = startClients(deployment.proxy.url, [group]);
  for (const gateway of deployment.gateways) {
    const before = clients.sent.length;
    await until(() => clients.sent.length > before + 20);
    expect(await gateway.stop()).toBe(0);
    await gateway.start();
  }
  await clients.stop();

  expect(new Set(clients.sent.map(({ result }) => result))).toEqual(new Set(["answered"]));
  expect(deployment.countQueued()).toBe(0);
  const receipts = await openBooks(database.url).receipts();
  expect(receipts).toHaveLength(clients.sent.length);
  const byId = new Map(receipts.map((receipt) => [receipt.hold_id, receipt]));
  for (const { requestId, costUsd } of clients.sent) {
    const receipt = byId.get(requestId);
    expect(receipt?.state).toBe("settled");
    if (costUsd) expect(receipt?.captured).toBe(parseUsd(costUsd));
    else expect(receipt?.captured).toBeGreaterThan(0n);
  }
  // Rejects on findings.
  await deployment.command("audit");
});

test.each([false, true])(
  "a client that disconnects behind HAProxy ends its upstream call (stream: %p)",
  async (stream) => {
    upstream.reset();
    upstream.on("chat", silence);
    const disconnect = new AbortController();
    const body = JSON.stringify({
      model: "chat",
      stream,
      messages: [{ role: "user", content: "Say hello." }],
    });
    const headers = { authorization: `Bearer ${secret}` };
    const url = `${deployment.proxy.url}/v1/chat/completions`;
    const asked = fetch(url, { method: "POST", headers, body, signal: disconnect.signal }).catch(
      () => undefined,
    );
    await upstream.waitForSeen(1);
    disconnect.abort();
    await asked;
    await upstream.seen[0]?.over;
    expect(upstream.seen[0]?.disconnectedAtMs).toBeNumber();
  },
);

test("without a gateway, HAProxy answers internal_error in the form of each surface", async () => {
  await Promise.all(deployment.gateways.map((gateway) => gateway.kill()));
  const ask = async (path: string) => {
    // HAProxy ends the connections that the killed gateways have served.
    const init = { method: "POST", body: "{}", keepalive: false };
    const response = await fetch(`${deployment.proxy.url}${path}`, init);
    expect(response.status).toBe(500);
    expect(response.headers.get("content-type")).toBe("application/json");
    return response.json();
  };
  const [, type] = ERRORS.internal.messages;
  const { code, message, chat } = ERRORS.internal;
  expect(await ask("/v1/chat/completions")).toEqual({ error: { message, type: chat[1], code } });
  expect(await ask("/v1/messages")).toEqual({
    type: "error",
    error: { type, message, details: { error_code: code } },
  });
});
