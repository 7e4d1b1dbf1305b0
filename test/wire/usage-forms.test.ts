import { describe, expect, test } from "bun:test";
import { isCounted, type Usage } from "../../src/domain/usage.ts";
import { billedOf, type Format, forEachClient, frameLines, relay, usageOf } from "./usage-forms.ts";

/** Builds a minimal answer that reports a usage, as a whole body and as the lines of a stream. */
function chatAnswer(usage: object): { whole: string; lines: readonly string[] } {
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const chunk = (delta: object, finish_reason: string | null, more: object = {}) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  });
  const message = { role: "assistant", content: "Hello." };
  const lines = [chunk(message, null), chunk({}, "stop"), { ...head, choices: [], usage }];
  const whole = { ...head, choices: [{ index: 0, message, finish_reason: "stop" }], usage };
  return { whole: JSON.stringify(whole), lines: lines.map((line) => JSON.stringify(line)) };
}

function messagesAnswer(usage: object): { whole: string; lines: readonly string[] } {
  const message = { id: "m", type: "message", role: "assistant", model: "m", stop_reason: null };
  const content = [{ type: "text", text: "Hello." }];
  const lines = [
    {
      type: "message_start",
      message: { ...message, content: [], usage: { input_tokens: 9, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage },
    { type: "message_stop" },
  ];
  const whole = { ...message, content, stop_reason: "end_turn", usage };
  return { whole: JSON.stringify(whole), lines: lines.map((line) => JSON.stringify(line)) };
}

function responsesAnswer(usage: object): { whole: string; lines: readonly string[] } {
  const content = [{ type: "output_text", text: "Hello.", annotations: [] }];
  const output = [{ id: "i", type: "message", role: "assistant", status: "completed", content }];
  const response = { id: "r", object: "response", status: "completed", model: "m", output, usage };
  return {
    whole: JSON.stringify(response),
    lines: [JSON.stringify({ type: "response.completed", response })],
  };
}

const ANSWERS = { chat: chatAnswer, messages: messagesAnswer, responses: responsesAnswer };

/** Expects a reported usage to be billed as given for every client, whole and streamed. */
function expectBilled(format: Format, reported: object, usage: Usage): void {
  const { whole, lines } = ANSWERS[format](reported);
  expect(billedOf(format, whole, false)).toEqual(forEachClient(format, usage));
  expect(billedOf(format, frameLines(format, lines), true)).toEqual(forEachClient(format, usage));
}

/** Expects a reported usage to be rejected, whole and streamed, so that a local count is billed. */
function expectUncounted(format: Format, reported: object): void {
  const { whole, lines } = ANSWERS[format](reported);
  const billed = [billedOf(format, whole, false), billedOf(format, frameLines(format, lines), true)];
  for (const usage of billed.flatMap((each) => Object.values(each))) {
    expect(usage === undefined || !isCounted(usage)).toBe(true);
  }
}

const reasons = (reasoning_tokens: unknown) => ({ completion_tokens_details: { reasoning_tokens } });

describe("reasoning that only the total includes", () => {
  test.each<[string, object, number]>([
    ["is added if it equals the gap of the total", { total_tokens: 140, ...reasons(110) }, 117],
    ["is not added if the total has no gap", { total_tokens: 30, ...reasons(5) }, 7],
    ["is not added without a total", reasons(110), 7],
    ["is not added if the total is smaller", { total_tokens: 4, ...reasons(110) }, 7],
    ["is not added if the total is not a number", { total_tokens: "140", ...reasons(110) }, 7],
    ["is added up to the gap of the total", { total_tokens: 70, ...reasons(110) }, 47],
    ["is added without the rest of the gap", { total_tokens: 900, ...reasons(110) }, 117],
    ["is the whole gap if its number is not reported", { total_tokens: 90 }, 67],
    ["is not added if its number is reported as zero", { total_tokens: 90, ...reasons(0) }, 7],
  ])("%s", (_name, more, outputTokens) => {
    const usage = usageOf({ inputTokens: 23, outputTokens });
    expectBilled("chat", { prompt_tokens: 23, completion_tokens: 7, ...more }, usage);
    const { completion_tokens_details: details, ...rest } = { completion_tokens_details: undefined, ...more };
    const reported = { input_tokens: 23, output_tokens: 7, ...rest, output_tokens_details: details };
    expectBilled("responses", reported, usage);
  });

  test("is part of the output that clients of other formats receive", () => {
    const reported = { prompt_tokens: 23, completion_tokens: 7, total_tokens: 140, ...reasons(110) };
    const { whole } = chatAnswer(reported);
    const toMessages = JSON.parse(
      relay({ upstream: "chat", client: "messages", text: whole, stream: false }).text,
    );
    expect(toMessages.usage).toMatchObject({
      output_tokens: 117,
      output_tokens_details: { thinking_tokens: 110 },
    });
    const toResponses = JSON.parse(
      relay({ upstream: "chat", client: "responses", text: whole, stream: false }).text,
    );
    expect(toResponses.usage).toMatchObject({
      output_tokens: 117,
      output_tokens_details: { reasoning_tokens: 110 },
      total_tokens: 140,
    });
  });

  test("is not added to impossible counts", () => {
    expectUncounted("chat", { prompt_tokens: -23, completion_tokens: 7, total_tokens: 140, ...reasons(110) });
    expectUncounted("chat", { prompt_tokens: 23, completion_tokens: -7, total_tokens: 140, ...reasons(110) });
    expectUncounted("chat", { prompt_tokens: 23, completion_tokens: 1e300, total_tokens: 1e300 });
  });
});

describe("cached tokens", () => {
  const counts = { prompt_tokens: 50, completion_tokens: 7, total_tokens: 57 };
  const usage = usageOf({ inputTokens: 20, cachedInputTokens: 30, outputTokens: 7 });

  test.each<[string, object]>([
    ["OpenAI", { prompt_tokens_details: { cached_tokens: 30 } }],
    ["Moonshot", { cached_tokens: 30 }],
    ["Moonshot, with empty details", { cached_tokens: 30, prompt_tokens_details: { cached_tokens: 0 } }],
    ["DeepSeek", { prompt_cache_hit_tokens: 30, prompt_cache_miss_tokens: 20 }],
    ["Mistral", { num_cached_tokens: 30 }],
    ["vLLM forks", { prompt_token_details: { cached_tokens: 30 } }],
    ["LiteLLM", { cache_read_input_tokens: 30, cache_creation_input_tokens: 0 }],
  ])("are read as %s spells them", (_name, more) => expectBilled("chat", { ...counts, ...more }, usage));

  test("are read outside the details of a responses answer", () =>
    expectBilled("responses", { input_tokens: 50, output_tokens: 7, cached_tokens: 30 }, usage));

  test.each<[string, object]>([
    ["OpenAI", { prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 15 } }],
    ["DashScope", { prompt_tokens_details: { cached_tokens: 30, cache_creation_input_tokens: 15 } }],
    ["LiteLLM", { cache_read_input_tokens: 30, cache_creation_input_tokens: 15 }],
  ])("that were written are read as %s spells them", (_name, more) => {
    const written = usageOf({ inputTokens: 5, cachedInputTokens: 30, cacheWriteTokens: 15, outputTokens: 7 });
    expectBilled("chat", { ...counts, ...more }, written);
  });

  test("that the host counts beside the prompt are not subtracted from it", () => {
    const beside = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 57, cache_read_input_tokens: 30 };
    expectBilled("chat", beside, usage);
  });

  test("are ignored if they are negative or not a number", () => {
    const uncached = usageOf({ inputTokens: 50, outputTokens: 7 });
    expectBilled("chat", { ...counts, cached_tokens: "30" }, uncached);
    expectBilled("chat", { ...counts, cached_tokens: -1 }, uncached);
    expectBilled("chat", { ...counts, total_tokens: 1e300 }, uncached);
  });

  test("are not subtracted from a prompt with fewer tokens, under any name", () => {
    const beside = usageOf({ inputTokens: 50, cachedInputTokens: 75, outputTokens: 7 });
    const details = { cached_tokens: 75 };
    for (const more of [
      { prompt_tokens_details: details },
      { cached_tokens: 75 },
      { prompt_cache_hit_tokens: 75 },
    ])
      expectBilled("chat", { ...counts, ...more }, beside);
    const reported = { input_tokens: 50, output_tokens: 7, total_tokens: 57, input_tokens_details: details };
    expectBilled("responses", reported, beside);
  });
});

describe("usage in a place that only one host uses", () => {
  const usage = { prompt_tokens: 50, completion_tokens: 7, total_tokens: 57, cached_tokens: 30 };
  const billed = usageOf({ inputTokens: 20, cachedInputTokens: 30, outputTokens: 7 });
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const delta = { ...head, choices: [{ index: 0, delta: { role: "assistant", content: "Hello." } }] };

  test.each<[string, object]>([
    [
      "the choice that finishes",
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop", usage }] },
    ],
    [
      "a member with the host's name",
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }], x_groq: { id: "x", usage } },
    ],
  ])("is read from %s and sent to clients that requested it", (_name, finish) => {
    const text = frameLines("chat", [JSON.stringify(delta), JSON.stringify(finish)]);
    expect(billedOf("chat", text, true)).toEqual(forEachClient("chat", billed));
    const sent = relay({ upstream: "chat", client: "chat", text, stream: true }).text;
    const last = JSON.parse(sent.split("\n\n").at(-3)?.replace("data: ", "") ?? "");
    expect(last).toMatchObject({ choices: [], usage });
  });
});

describe("iterations of a message", () => {
  const counted = (type: string, input: number, output: number, more: object = {}) => ({
    type,
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    ...more,
  });
  const top = {
    input_tokens: 200,
    output_tokens: 40,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  const compaction = counted("compaction", 9_000, 300);
  const message = counted("message", 200, 40);

  test.each<[string, readonly object[], Partial<Usage>]>([
    ["with a compaction are all charged", [compaction, message], { inputTokens: 9_200, outputTokens: 340 }],
    ["are all charged in any order", [message, compaction], { inputTokens: 9_200, outputTokens: 340 }],
    [
      "with two compactions are all charged",
      [compaction, compaction, message],
      { inputTokens: 18_200, outputTokens: 640 },
    ],
    ["of one message are charged once", [message], { inputTokens: 200, outputTokens: 40 }],
    [
      "of a tool loop are charged once",
      [counted("message", 120, 30), counted("message", 80, 10)],
      { inputTokens: 200, outputTokens: 40 },
    ],
    ["without the message are added", [compaction], { inputTokens: 9_200, outputTokens: 340 }],
    [
      "that omit a count are charged for the other",
      [message, { type: "x", input_tokens: 5 }, { type: "y" }],
      { inputTokens: 205, outputTokens: 40 },
    ],
    ["that are empty change nothing", [], { inputTokens: 200, outputTokens: 40 }],
    [
      "of an advisor are charged",
      [message, counted("advisor_message", 500, 60)],
      { inputTokens: 700, outputTokens: 100 },
    ],
    ["of an unknown type are charged", [message, counted("x", 5, 6)], { inputTokens: 205, outputTokens: 46 }],
  ])("%s", (_name, iterations, classes) => {
    expectBilled("messages", { ...top, iterations }, usageOf(classes));
  });

  test("are charged once if the top level includes them", () => {
    const all = { ...top, input_tokens: 9_200, output_tokens: 340, iterations: [compaction, message] };
    expectBilled("messages", all, usageOf({ inputTokens: 9_200, outputTokens: 340 }));
    const alone = { ...top, input_tokens: 9_000, output_tokens: 300, iterations: [compaction] };
    expectBilled("messages", alone, usageOf({ inputTokens: 9_000, outputTokens: 300 }));
  });

  test("are charged by class, each kind of cache separately", () => {
    const cached = counted("compaction", 1_000, 300, {
      cache_read_input_tokens: 4_000,
      cache_creation_input_tokens: 700,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 200 },
    });
    expectBilled(
      "messages",
      { ...top, iterations: [cached, message] },
      {
        inputTokens: 1_200,
        cachedInputTokens: 4_000,
        cacheWriteTokens: 500,
        cacheWrite1hTokens: 200,
        outputTokens: 340,
      },
    );
  });

  test("are kept if a later event of a stream omits them", () => {
    const { lines } = messagesAnswer({ ...top, iterations: [compaction, message] });
    const later = JSON.stringify({ type: "message_delta", delta: {}, usage: { output_tokens: 50 } });
    const stream = frameLines("messages", [...lines.slice(0, -1), later, ...lines.slice(-1)]);
    const usage = usageOf({ inputTokens: 9_200, outputTokens: 350 });
    expect(billedOf("messages", stream, true)).toEqual(forEachClient("messages", usage));
  });

  test("at the start of a stream are charged", () => {
    const [start = "", ...lines] = messagesAnswer({ output_tokens: 40 }).lines;
    const begun = JSON.parse(start);
    begun.message.usage = { ...top, iterations: [compaction] };
    const stream = frameLines("messages", [JSON.stringify(begun), ...lines]);
    const usage = usageOf({ inputTokens: 9_200, outputTokens: 340 });
    expect(billedOf("messages", stream, true)).toEqual(forEachClient("messages", usage));
  });

  test.each<[string, unknown, Partial<Usage>]>([
    ["a string", "compaction", {}],
    ["an object", { compaction }, {}],
    ["an entry that is a string", ["compaction", compaction], { inputTokens: 9_200, outputTokens: 340 }],
    ["a negative count", [counted("compaction", -1, 300), message], { outputTokens: 340 }],
    [
      "a total that is a string",
      [{ ...compaction, input_tokens: "x" }, compaction],
      { inputTokens: 9_200, outputTokens: 640 },
    ],
    [
      "a cache count that is a string",
      [counted("compaction", 9_000, 300, { cache_read_input_tokens: "1" })],
      { inputTokens: 9_200, outputTokens: 340 },
    ],
    ["half a token", [counted("compaction", 0.5, 300)], { outputTokens: 340 }],
    [
      "more tokens written for an hour than in total",
      [counted("compaction", 1, 1, { cache_creation: { ephemeral_1h_input_tokens: 9 } }), message],
      { inputTokens: 201, cacheWrite1hTokens: 9, outputTokens: 41 },
    ],
    [
      "counts above the safe integers",
      [counted("compaction", 9e15, 300), counted("compaction", 9e15, 300)],
      { inputTokens: 9e15 + 200, outputTokens: 340 },
    ],
  ])("with %s are charged as far as they are counts", (_name, iterations, more) => {
    const usage = usageOf({ inputTokens: 200, outputTokens: 40, ...more });
    expectBilled("messages", { ...top, iterations }, usage);
  });

  test("of any number take linear time in their bytes over a whole stream", () => {
    const iterations = Array.from({ length: 30_000 }, () => counted("message", 0, 0));
    const { lines } = messagesAnswer({ ...top, iterations });
    const later = JSON.stringify({ type: "message_delta", delta: {}, usage: { output_tokens: 40 } });
    const repeated = Array.from({ length: 20_000 }, () => later);
    const text = frameLines("messages", [...lines.slice(0, -1), ...repeated, ...lines.slice(-1)]);
    const before = process.cpuUsage();
    const { usage } = relay({ upstream: "messages", client: "messages", text, stream: true });
    const { user, system } = process.cpuUsage(before);
    // Summing the list again at every event would take hundreds of millions of steps.
    expect((user + system) / 1_000).toBeLessThan(20_000);
    expect(usage === undefined || usage.inputTokens === 200 || !isCounted(usage)).toBe(true);
  });
});
