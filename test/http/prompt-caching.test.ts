import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { inputTokensOf } from "../../src/domain/usage.ts";
import { CHAT, MESSAGES, objectOf, post, RESPONSES, type Surface } from "../support/client.ts";
import { createScriptedPromptCache, type ScriptedPromptCache } from "../support/scripted-prompt-cache.ts";
import { scriptedModel } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const RULES = "Answer in one sentence. ".repeat(300);
const TURNS = 20;

let gateway: TestGateway;
let cache: ScriptedPromptCache;
beforeAll(async () => {
  gateway = await startTestGateway({
    models: [
      scriptedModel("cached", "anthropic", { promptCaching: "auto" }),
      scriptedModel("plain", "anthropic"),
    ],
  });
});
beforeEach(() => {
  gateway.upstream.reset();
  cache = createScriptedPromptCache();
  for (const model of ["cached", "plain"]) gateway.upstream.on(model, cache.script);
});
afterAll(() => gateway.stop());

/** The body of each turn of a conversation, as a client sends it with all turns before. */
const CONVERSATIONS: readonly (readonly [Surface<string>, (turn: number) => object])[] = [
  [CHAT, (turn) => ({ messages: [{ role: "system", content: RULES }, ...spoken(turn)] })],
  [RESPONSES, (turn) => ({ instructions: RULES, input: spoken(turn) })],
];

function spoken(turn: number): readonly object[] {
  const question = (number: number) => ({
    role: "user",
    content: `Question ${number}. ${"Why? ".repeat(40)}`,
  });
  const before = Array.from({ length: turn }, (_, at) => [
    question(at),
    { role: "assistant", content: "Noted." },
  ]);
  return [...before.flat(), question(turn)];
}

async function converse([surface, bodyOf]: (typeof CONVERSATIONS)[number], model: string, stream: boolean) {
  let charged = 0n;
  for (let turn = 0; turn < TURNS; turn++) {
    const response = await post(gateway, surface, { model, stream, ...bodyOf(turn) });
    await response.text();
    expect(response.status).toBe(200);
    charged += (await gateway.receiptOf(response)).captured;
  }
  return charged;
}

describe.each(CONVERSATIONS.map((each) => [each[0].name, each] as const))(
  "a conversation on %s",
  (_, talk) => {
    test.each([false, true])(
      "of 20 turns reads most of its prompts from the cache (stream: %p)",
      async (stream) => {
        const charged = await converse(talk, "cached", stream);
        const { requests, inputTokens, readTokens, writtenTokens } = cache.sums();
        expect(requests).toBe(TURNS);
        expect(readTokens / inputTokens).toBeGreaterThan(0.9);
        // Every token is written at most once: the last prompt, and the system prompt of the first.
        expect(writtenTokens).toBeLessThan(inputTokens / 10);
        const plain = createScriptedPromptCache();
        gateway.upstream.on("plain", plain.script);
        expect(charged).toBeLessThan(((await converse(talk, "plain", stream)) * 3n) / 10n);
        expect(plain.sums()).toMatchObject({ inputTokens, readTokens: 0, writtenTokens: 0 });
      },
    );
  },
);

test("a request of the messages format, which has marks of its own, gets none", async () => {
  const messages = [
    { role: "user", content: RULES.repeat(3) },
    { role: "assistant", content: "Noted." },
    { role: "user", content: "And?" },
  ];
  expect((await post(gateway, MESSAGES, { model: "cached", max_tokens: 9, messages })).status).toBe(200);
  expect(gateway.upstream.seen[0]?.bodyText).not.toContain("cache_control");
});

test("a receipt reports what caching saved, below zero for a cache that was only written", async () => {
  const [, bodyOf] = CONVERSATIONS[0] ?? [CHAT, () => ({})];
  const saved: unknown[] = [];
  for (const turn of [0, 1]) {
    const response = await post(gateway, CHAT, { model: "cached", ...bodyOf(turn) });
    const { outcome } = await gateway.receiptOf(response);
    const id = response.headers.get("x-request-id");
    const headers = { authorization: `Bearer ${gateway.secret}` };
    const receipt = await objectOf(await fetch(`${gateway.url}/v1/receipts/${id}`, { headers }));
    const usage = outcome?.usage;
    if (!usage) throw new Error("The receipt has no usage");
    expect(inputTokensOf(usage)).toBeGreaterThan(1_024);
    // USD per million tokens: input 1.00, cached 0.10, written 1.25.
    const picos = usage.cachedInputTokens * 900_000 - usage.cacheWriteTokens * 250_000;
    expect(Number(receipt.saved_by_caching_usd) * 1e12).toBeCloseTo(picos, -4);
    saved.push(receipt.saved_by_caching_usd);
  }
  expect(saved).toEqual([expect.stringMatching(/^-0\.0/), expect.stringMatching(/^0\.0/)]);
});
