import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Receipt } from "../../src/ledger/records.ts";
import { CHAT, post, SURFACES, type Surface } from "../support/client.ts";
import { answer, resetAtOnce, silence } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

const DEAR = { ...TEST_PRICE, input: TEST_PRICE.input * 10n };

let gateway: TestGateway;
let deaf: Server;
beforeAll(async () => {
  deaf = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((resolve) => deaf.once("listening", resolve));
  const address = deaf.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const first = scriptedRoute("scripted-openai", "chat");
  const second = scriptedRoute("scripted-openai", "reserve", { priority: 2, price: DEAR });
  gateway = await startTestGateway({
    models: [
      scriptedModel("chat", "openai"),
      scriptedModel("claude", "anthropic"),
      scriptedModel("two", "openai", { routes: [first, second] }),
      scriptedModel("deaf", "openai", { routes: [scriptedRoute("deaf", "chat")] }),
    ],
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      // Accepts connections and never begins a TLS handshake.
      scriptedUpstream("deaf", "openai", { baseUrl: `https://127.0.0.1:${port}/v1` }),
    ],
  });
});
beforeEach(() => gateway.upstream.reset());
afterAll(async () => {
  await gateway.stop();
  deaf.close();
});

/** Sends a request, disconnects when `hasCome` resolves, and returns the receipt of the settled request. */
async function disconnect(
  surface: Surface,
  body: Record<string, unknown>,
  hasCome: () => Promise<unknown> | unknown,
  on: TestGateway = gateway,
): Promise<Receipt> {
  const { secret, key } = await on.newPayer("100");
  const controller = new AbortController();
  const pending = post(on, surface, { secret, signal: controller.signal, ...body }).catch(() => undefined);
  await hasCome();
  controller.abort();
  await pending;
  await on.nothingIsHeld(key.accountId);
  const { items } = await on.tollgate.ledger.receipts({ walletId: key.accountId }, { size: 2 });
  const [receipt] = items;
  if (!receipt) throw new Error("There is no receipt");
  return receipt;
}

const isSeen = (count: number) => () => gateway.upstream.waitForSeen(count);

describe.each(SURFACES)("a client of $path that disconnects before the first output", (surface) => {
  test.each([false, true])(
    "pays for a count of its prompt, on every attempt anew (streamed: %p)",
    async (stream) => {
      const content = "The quick brown fox jumps over the lazy dog, and 42 more sentences follow.\n".repeat(
        6_700,
      );
      expect(content.length).toBeGreaterThan(500_000);
      gateway.upstream.on(surface.model, silence);
      const tokens = countTokens(content);
      for (const count of [1, 2, 3]) {
        const messages = [{ role: "user", content }];
        const receipt = await disconnect(surface, { stream, messages }, isSeen(count));
        expect(receipt).toMatchObject({
          state: "settled",
          outcome: { outcome: "client_closed", source: "estimated", usage: { outputTokens: 0 } },
        });
        // A busy machine estimates this text, at 8 % more than its count.
        expect(Number(receipt.captured)).toBeWithin(tokens * 950, tokens * 1_100);
      }
    },
  );

  test("pays nothing when client_disconnect is free", async () => {
    const free = await startTestGateway();
    free.tollgate.apply({
      models: [scriptedModel("chat", "openai"), scriptedModel("claude", "anthropic")],
      upstreams: scriptedUpstreams(free.upstream),
      keyLimits: {},
      accountLimits: {},
      clientDisconnect: "free",
      drainMs: 2_000,
    });
    free.upstream.on(surface.model, silence);
    const receipt = await disconnect(surface, {}, () => free.upstream.waitForSeen(1), free);
    expect(receipt).toMatchObject({ state: "released", captured: 0n, outcome: { source: "none" } });
    await free.stop();
  });
});

test("a client that disconnects before an upstream is connected pays nothing", async () => {
  const connected = new Promise((resolve) => deaf.once("connection", resolve));
  const receipt = await disconnect(CHAT, { model: "deaf" }, () => connected);
  expect(receipt).toMatchObject({ state: "released", captured: 0n, outcome: { outcome: "client_closed" } });
});

test("a client that disconnects while an upstream sends an error pays nothing", async () => {
  gateway.upstream.on("chat", answer({ status: 400, body: "{}", claimedLength: 100, end: "hang" }));
  const receipt = await disconnect(CHAT, {}, async () => {
    await gateway.upstream.waitForSeen(1);
    // Waits for the head of the answer, which no test can observe: in small steps, because a busy process reads late.
    for (let turn = 0; turn < 100; turn += 1) await Bun.sleep(10);
  });
  expect(receipt).toMatchObject({ captured: 0n, outcome: { attempts: [{ status: 400 }] } });
});

test("a client that disconnects during a failover pays for the prompt once, at the price of the last upstream", async () => {
  gateway.upstream.on("chat", resetAtOnce);
  gateway.upstream.on("reserve", silence);
  // A reset on a kept connection is asked once more, so the number of requests does not tell who has this one.
  const hasReserve = () => gateway.upstream.seen.some(({ model }) => model === "reserve");
  const receipt = await disconnect(CHAT, { model: "two" }, () => until(hasReserve));
  expect(receipt).toMatchObject({
    captured: 3n * 10_000n,
    outcome: { upstreamModel: "reserve", price: { input: DEAR.input }, usage: { inputTokens: 3 } },
  });
  expect(receipt.outcome?.attempts).toHaveLength(2);
});

test("a request that fails at every upstream is free", async () => {
  gateway.upstream.on("chat", resetAtOnce);
  gateway.upstream.on("reserve", resetAtOnce);
  const response = await post(gateway, CHAT, { model: "two" });
  expect(response.status).toBe(502);
  expect((await gateway.receiptOf(response)).captured).toBe(0n);
});

test("images in an uncounted prompt cost as many tokens as their hold", async () => {
  gateway.upstream.on("chat", silence);
  const url = `data:image/png;base64,${"A".repeat(8_000)}`;
  const content = [{ type: "image_url", image_url: { url } }];
  const receipt = await disconnect(CHAT, { messages: [{ role: "user", content }] }, isSeen(1));
  expect(Number(receipt.captured)).toBeWithin(2_000_000, 2_100_000);
});

test("the next request after a disconnect is answered", async () => {
  gateway.upstream.on("chat", silence, answerWith());
  await disconnect(CHAT, {}, isSeen(1));
  expect((await post(gateway, CHAT)).status).toBe(200);
});
