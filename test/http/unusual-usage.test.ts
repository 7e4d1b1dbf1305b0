import { describe, expect, test } from "bun:test";
import { ERRORS } from "../../src/errors.ts";
import { CHAT, MESSAGES, post, RESPONSES, type Surface } from "../support/client.ts";
import { expectError } from "../support/expect-error.ts";
import { gatewayForTests } from "../support/gateway-for-tests.ts";
import { answer, type Script } from "../support/script.ts";
import { EVENT_STREAM, frame } from "../support/scripted-answers.ts";

const gateway = gatewayForTests();

/** Answers one word with this usage, whole or streamed as the request asks. */
function reports(usage: object): Script {
  return (request) => {
    const { whole, lines } = request.protocol === "openai" ? chatOf(usage) : messageOf(usage);
    const body = request.stream
      ? frame(
          request.protocol,
          lines.map((each) => JSON.stringify(each)),
        )
      : JSON.stringify(whole);
    return answer({ headers: request.stream ? EVENT_STREAM : {}, body })(request);
  };
}

function chatOf(usage: object) {
  const head = { id: "c", object: "chat.completion", created: 1, model: "m" };
  const message = { role: "assistant", content: "Hello." };
  return {
    whole: { ...head, choices: [{ index: 0, message, finish_reason: "stop" }], usage },
    lines: [
      { ...head, choices: [{ index: 0, delta: message }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage },
    ],
  };
}

function messageOf(usage: object) {
  const message = { id: "m", type: "message", role: "assistant", model: "m", stop_reason: null };
  const block = { type: "text", text: "Hello." };
  return {
    whole: { ...message, content: [block], stop_reason: "end_turn", usage },
    lines: [
      {
        type: "message_start",
        message: { ...message, content: [], usage: { input_tokens: 9, output_tokens: 1 } },
      },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
      { type: "message_stop" },
    ],
  };
}

const iteration = (type: string, input_tokens: number, output_tokens: number) => ({
  type,
  input_tokens,
  output_tokens,
});
/** Nano-USD per token: input 1,000, cached input 100, output 2,000. */
const REPORTS: readonly (readonly [name: string, model: string, usage: object, charge: bigint])[] = [
  [
    "reasoning beside the completion",
    "chat",
    {
      prompt_tokens: 14,
      completion_tokens: 3,
      total_tokens: 160,
      completion_tokens_details: { reasoning_tokens: 143 },
    },
    14_000n + 146n * 2_000n,
  ],
  [
    "reasoning that only the total shows",
    "chat",
    { prompt_tokens: 14, completion_tokens: 3, total_tokens: 160 },
    14_000n + 146n * 2_000n,
  ],
  [
    "cached tokens at the top level",
    "chat",
    { prompt_tokens: 50, completion_tokens: 3, total_tokens: 53, cached_tokens: 40 },
    10_000n + 40n * 100n + 6_000n,
  ],
  [
    "a compaction among the iterations",
    "claude",
    {
      input_tokens: 200,
      output_tokens: 40,
      iterations: [iteration("compaction", 9_000, 300), iteration("message", 200, 40)],
    },
    9_200_000n + 340n * 2_000n,
  ],
];

describe.each(REPORTS)("an answer with %s", (_name, model, usage, charge) => {
  test.each([CHAT, MESSAGES])(
    "is charged in full to a client of $name, streamed and whole",
    async (surface) => {
      for (const stream of [false, true]) {
        gateway.upstream.on(model, reports(usage));
        const response = await post(gateway, surface, { model, stream, max_tokens: 1_000 });
        expect(response.status).toBe(200);
        await response.text();
        const { captured, outcome } = await gateway.receiptOf(response);
        expect([stream, captured, outcome?.source]).toEqual([stream, charge, "reported"]);
      }
    },
  );
});

describe("a request with a field that has no price", () => {
  test.each<Surface<"chat" | "messages" | "responses">>([CHAT, MESSAGES, RESPONSES])(
    "is rejected on $name before a hold",
    async (surface) => {
      const before = await gateway.balances();
      const { message } = ERRORS.unpriced_field;
      for (const [path, members] of Object.entries({
        fallbacks: { fallbacks: [{ model: "dear" }] },
        fallback_model: { fallback_model: "dear" },
        best_of: { best_of: 20 },
        use_beam_search: { use_beam_search: true },
      })) {
        const refused = await post(gateway, surface, members);
        await expectError(refused, surface, "unpriced_field", {
          message: `${message.slice(0, -1)}: ${path}`,
        });
      }
      expect(gateway.upstream.seen).toHaveLength(0);
      expect(await gateway.balances()).toEqual(before);
    },
  );
});
