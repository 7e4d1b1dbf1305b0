import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { API_KEY, chunkOf, type ScriptedGoogle, startScriptedGoogle } from "../support/scripted-google.ts";
import {
  scriptedModel,
  scriptedRoute,
  scriptedUpstream,
  scriptedUpstreams,
  TEST_PRICE,
} from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MODEL = "gemini-2.5-flash";
/** 3.5 cents, in nano-USD. */
const FEE = 35_000_000n;
const PRICE = { ...TEST_PRICE, tools: { grounding: FEE * 1_000n } };
/** 10 tokens of input at 1,000 nanos and 5 of output at 2,000. */
const TOKENS = 20_000n;

let google: ScriptedGoogle;
let gateway: TestGateway;
beforeAll(async () => {
  google = startScriptedGoogle();
  const route = (upstream: string, price: typeof TEST_PRICE) => [scriptedRoute(upstream, MODEL, { price })];
  gateway = await startTestGateway({
    upstreams: (scripted) => [
      ...scriptedUpstreams(scripted),
      scriptedUpstream("gemini", "gemini", { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY }),
    ],
    models: [
      scriptedModel("grounded", "gemini", { price: PRICE, routes: route("gemini", PRICE) }),
      scriptedModel("plain", "gemini", { routes: route("gemini", TEST_PRICE) }),
      scriptedModel("chat", "openai", { price: PRICE, routes: route("scripted-openai", PRICE) }),
    ],
  });
});
beforeEach(() => google.reset());
afterAll(async () => {
  await gateway.stop();
  await google.stop();
});

const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

/** Answers with this grounding metadata in its last response. */
function answerGrounded(groundingMetadata?: object): void {
  const last = chunkOf([{ text: "there." }], { usageMetadata }, "STOP");
  const [candidate] = last.candidates as readonly object[];
  const candidates = [{ ...candidate, ...(groundingMetadata && { groundingMetadata }) }];
  google.on(MODEL, [chunkOf([{ text: "Hello " }]), { ...last, candidates }]);
}

async function ask(model: string, { stream = false, ...members }: Record<string, unknown> = {}) {
  const method = stream ? "streamGenerateContent?alt=sse" : "generateContent";
  const response = await fetch(`${gateway.url}/v1beta/models/${model}:${method}`, {
    method: "POST",
    headers: { "x-goog-api-key": gateway.secret, "content-type": "application/json" },
    body: JSON.stringify({
      contents: [{ role: "user", parts: [{ text: "What is new?" }] }],
      tools: [{ googleSearch: {} }],
      ...members,
    }),
  });
  return { status: response.status, text: await response.text(), response };
}

test.each([false, true])(
  "a grounded answer costs one fee, whatever its queries (streamed: %p)",
  async (stream) => {
    for (const [metadata, fee] of [
      [{ webSearchQueries: ["a", "b", "c"], groundingChunks: [{ web: { uri: "https://x.example" } }] }, FEE],
      [{ groundingChunks: [{ web: { uri: "https://x.example" } }] }, FEE],
      [{ webSearchQueries: [] }, 0n],
      [undefined, 0n],
    ] as const) {
      answerGrounded(metadata);
      const { response } = await ask("grounded", { stream });
      const receipt = await gateway.receiptOf(response);
      expect(receipt.captured).toBe(TOKENS + fee);
      expect(receipt.outcome?.usage?.calls).toEqual(fee > 0n ? { grounding: 1 } : undefined);
      expect(receipt.granted >= FEE).toBe(true);
    }
  },
);

test("grounding that was not asked for costs nothing", async () => {
  answerGrounded({ webSearchQueries: ["a"] });
  const { response } = await ask("grounded", { tools: undefined });
  expect((await gateway.receiptOf(response)).captured).toBe(TOKENS);
});

test("a search without a fee, and one that would be translated, is refused by name", async () => {
  for (const model of ["plain", "chat"]) {
    const { status, text } = await ask(model);
    expect([model, status]).toEqual([model, 400]);
    expect(text).toContain("tools[0].googleSearch");
  }
  expect(google.seen).toEqual([]);
});
