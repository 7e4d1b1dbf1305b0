import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type Anthropic from "@anthropic-ai/sdk";
import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import type { ResponseInput } from "openai/resources/responses/responses";
import { answer, type Script } from "../support/script.ts";
import { EVENT_STREAM, frame } from "../support/scripted-answers.ts";
import { listAt, objectAt } from "../support/strict-json.ts";
import { crossingForFile, GPT } from "./quadrants/crossing.ts";

// A charge that nobody reported is counted, which takes its time on a busy machine.
setDefaultTimeout(30_000);

const { upstream, settings, anthropic, claude, openai, seen } = crossingForFile();

const ID = "function-call-1186398";
const CALL = { id: ID, type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } };
const GEMINI_SIGNATURE = `${"CvcQAdHtim9".repeat(200)}+/==`;
const GEMINI_EXTRA = { google: { thought_signature: GEMINI_SIGNATURE } };
const ENCRYPTED = {
  type: "reasoning.encrypted",
  data: "CiQBjz1rX+/=",
  id: ID,
  format: "google-gemini-v1",
  index: 0,
};
const SUMMARY = {
  type: "reasoning.summary",
  summary: "Look it up.",
  id: "rs_0f2f5b1c5a6e4d3a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f",
  format: "openai-responses-v1",
  index: 0,
};
const OPENAI_DETAIL = {
  ...SUMMARY,
  type: "reasoning.encrypted",
  data: "gAAAAABo",
  index: 1,
  summary: undefined,
};
const CLAUDE_DETAIL = {
  type: "reasoning.text",
  text: "Look it up.",
  signature: "EuYBCkQYAiJAn==",
  format: "anthropic-claude-v1",
  index: 0,
};

/** How a host says a call and what must come back with it, and where that stands when it does. */
interface Host {
  readonly name: string;
  readonly message: object;
  readonly deltas: readonly object[];
  readonly back: object;
}

const streamedCall = (extra: object = {}) => ({ tool_calls: [{ index: 0, ...CALL, ...extra }] });

const HOSTS: readonly Host[] = [
  {
    name: "Gemini's signature over a call",
    message: { content: null, tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
    deltas: [{ role: "assistant" }, streamedCall({ extra_content: GEMINI_EXTRA })],
    back: { tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
  },
  {
    name: "Gemini's signature that comes late",
    message: { content: null, tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
    deltas: [streamedCall(), { tool_calls: [{ index: 0, extra_content: GEMINI_EXTRA }] }],
    back: { tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
  },
  {
    name: "what OpenRouter has of Gemini",
    message: { content: "", reasoning_details: [ENCRYPTED], tool_calls: [CALL] },
    deltas: [{ content: "", reasoning_details: [ENCRYPTED] }, streamedCall()],
    back: { reasoning_details: [ENCRYPTED], tool_calls: [CALL] },
  },
];
const REASONING_HOSTS: readonly Host[] = [
  ...HOSTS,
  {
    name: "what OpenRouter has of OpenAI",
    message: {
      content: "",
      reasoning: "Look it up.",
      reasoning_details: [SUMMARY, OPENAI_DETAIL],
      tool_calls: [CALL],
    },
    deltas: [
      { reasoning: "Look ", reasoning_details: [{ ...SUMMARY, summary: "Look " }] },
      { reasoning: "it up.", reasoning_details: [{ ...SUMMARY, summary: "it up." }] },
      { reasoning_details: [OPENAI_DETAIL] },
      streamedCall(),
    ],
    back: { reasoning_details: JSON.parse(JSON.stringify([SUMMARY, OPENAI_DETAIL])), tool_calls: [CALL] },
  },
  {
    name: "what OpenRouter has of Claude",
    message: {
      content: "",
      reasoning: "Look it up.",
      reasoning_details: [CLAUDE_DETAIL],
      tool_calls: [CALL],
    },
    deltas: [
      { reasoning: "Look it up.", reasoning_details: [{ ...CLAUDE_DETAIL, signature: undefined }] },
      { reasoning_details: [{ ...CLAUDE_DETAIL, text: "" }] },
      streamedCall(),
    ],
    back: { reasoning_details: [CLAUDE_DETAIL], tool_calls: [CALL] },
  },
];

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const chunkOf = (delta: object, finish: string | null = null) =>
  JSON.stringify({
    id: "chunk-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "theirs",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...(finish && { usage: USAGE }),
  });

function answers(message: object, deltas: readonly object[], finish: string): Script {
  return ({ stream }) => {
    const lines = [...deltas.map((delta) => chunkOf(delta)), chunkOf({}, finish)];
    const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }];
    const whole = JSON.stringify({
      id: "answer-1",
      object: "chat.completion",
      created: 1,
      choices,
      usage: USAGE,
    });
    return answer({ headers: stream ? EVENT_STREAM : {}, body: stream ? frame("openai", lines) : whole })({
      stream,
    } as never);
  };
}

function play({ message, deltas }: Pick<Host, "message" | "deltas">): void {
  const rain = { content: "Rain." };
  // A plain stop behind a call, as Gemini says it.
  upstream().on(GPT, answers(message, deltas, "stop"), answers(rain, [rain], "stop"));
}

/** The assistant's message that the host has got back. */
function returned(): object {
  expect(upstream().seen).toHaveLength(2);
  const messages = listAt(seen().messages).map((each) => objectAt(each, "a message"));
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  return messages[1] ?? {};
}

const QUESTION = "How is Oslo?";
const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };
const inputSchema = jsonSchema<{ city: string }>(schema);
const look = tool({ description: "", inputSchema, execute: ({ city }) => `rain in ${city}` });

async function loopOfAnthropic(thinking: object, isStreamed: boolean): Promise<unknown> {
  const { messages } = anthropic();
  const question: Anthropic.MessageParam = { role: "user", content: QUESTION };
  const tools = [{ name: "get_weather", input_schema: schema }];
  const request = { model: GPT, max_tokens: 2_000, tools, ...thinking };
  const first = { ...request, messages: [question] };
  const asked = isStreamed ? await messages.stream(first).finalMessage() : await messages.create(first);
  const call = asked.content.find((block) => block.type === "tool_use");
  expect(asked.stop_reason).toBe("tool_use");
  const result = { type: "tool_result" as const, tool_use_id: call?.id ?? "", content: "rain" };
  const history: Anthropic.MessageParam[] = [
    question,
    { role: "assistant", content: asked.content },
    { role: "user", content: [result] },
  ];
  return (await messages.create({ ...request, messages: history })).content.at(-1);
}

async function loopOfAi(model: Parameters<typeof streamText>[0]["model"], options = {}): Promise<unknown> {
  const tools = { get_weather: look };
  const result = streamText({
    model,
    prompt: QUESTION,
    tools,
    stopWhen: isStepCount(3),
    maxRetries: 0,
    providerOptions: options,
  });
  return { type: "text", text: await result.text };
}

async function loopOfLangchain(): Promise<unknown> {
  const { apiKey, baseURL } = settings();
  const chat = new ChatAnthropic({
    model: GPT,
    apiKey,
    maxRetries: 0,
    maxTokens: 2_000,
    anthropicApiUrl: baseURL.replace(/\/v1$/, ""),
  }).bindTools([{ name: "get_weather", input_schema: schema }]);
  const question = new HumanMessage(QUESTION);
  const asked = await chat.invoke([question]);
  const results = (asked.tool_calls ?? []).map(
    ({ id }) => new ToolMessage({ tool_call_id: id ?? "", content: "rain" }),
  );
  return { type: "text", text: (await chat.invoke([question, asked, ...results])).text };
}

async function loopOfResponses(more: object): Promise<unknown> {
  const { responses } = openai();
  const tools = [{ type: "function" as const, name: "get_weather", strict: false, parameters: schema }];
  const request = { model: GPT, tools, store: false, ...more };
  const input: ResponseInput = [{ role: "user", content: QUESTION }];
  const asked = await responses.stream({ ...request, input }).finalResponse();
  const output = { type: "function_call_output" as const, call_id: ID, output: "rain" };
  const history = [...input, ...toResponseInputItems(asked.output), output];
  return { type: "text", text: (await responses.create({ ...request, input: history })).output_text };
}

const THINKING = { thinking: { type: "enabled", budget_tokens: 1_024 } };
const OMITTED = { thinking: { type: "adaptive", display: "omitted" } };
const THINKS = { anthropic: { thinking: { type: "enabled", budgetTokens: 1_024 } } };
const SEALED = { include: ["reasoning.encrypted_content"], reasoning: { summary: "auto" } };
const direct = () => createOpenAICompatible({ ...settings(), name: "tollgate", includeUsage: true })(GPT);

describe.each(HOSTS)("$name comes back through a loop of tools without reasoning", (host) => {
  test.each<[string, () => Promise<unknown>]>([
    ["of @anthropic-ai/sdk, whole", () => loopOfAnthropic({}, false)],
    ["of @anthropic-ai/sdk, streamed", () => loopOfAnthropic({}, true)],
    ["of the AI SDK's Anthropic", () => loopOfAi(claude())],
    ["of LangChain's Anthropic", loopOfLangchain],
    ["of OpenAI's responses", () => loopOfResponses({})],
  ])("%s", async (_name, loop) => {
    play(host);
    expect(await loop()).toMatchObject({ type: "text", text: "Rain." });
    expect(returned()).toMatchObject(host.back);
  });
});

describe.each(REASONING_HOSTS)("$name comes back through a loop of tools with reasoning", (host) => {
  test.each<[string, () => Promise<unknown>]>([
    ["of @anthropic-ai/sdk, whole", () => loopOfAnthropic(THINKING, false)],
    ["of @anthropic-ai/sdk, streamed", () => loopOfAnthropic(THINKING, true)],
    ["of the AI SDK's Anthropic", () => loopOfAi(claude(), THINKS)],
    ["of OpenAI's responses", () => loopOfResponses(SEALED)],
  ])("%s", async (_name, loop) => {
    play(host);
    expect(await loop()).toMatchObject({ type: "text", text: "Rain." });
    expect(returned()).toMatchObject(host.back);
  });

  test("of @anthropic-ai/sdk that does not want to see it", async () => {
    play(host);
    expect(await loopOfAnthropic(OMITTED, true)).toMatchObject({ text: "Rain." });
    expect(JSON.stringify(returned())).toContain(signatureOf(host));
  });
});

describe("clients of chat completions", () => {
  test("keep Gemini's signature over a call, which passes as it is both ways", async () => {
    const [gemini] = HOSTS;
    if (!gemini) throw new Error("There is no host");
    play(gemini);
    expect(await loopOfAi(direct())).toMatchObject({ text: "Rain." });
    expect(returned()).toMatchObject(gemini.back);
  });

  test("keep what they send back of reasoning", async () => {
    for (const { message, back } of REASONING_HOSTS) {
      upstream().reset();
      upstream().on(GPT, answers({ content: "Rain." }, [], "stop"));
      const result = { role: "tool" as const, tool_call_id: ID, content: "rain" };
      const history = { role: "assistant", ...message } as never;
      const messages = [{ role: "user" as const, content: QUESTION }, history, result];
      await openai().chat.completions.create({ model: GPT, messages });
      expect(listAt(seen().messages)[1]).toMatchObject(back);
    }
  });
});

describe("Gemini's signature over a message", () => {
  const extra_content = GEMINI_EXTRA;
  const host = {
    message: { content: "Let me think.", extra_content },
    deltas: [{ content: "Let me " }, { content: "think.", extra_content }],
  };

  test.each([false, true])("comes back where thinking was asked for, streamed: %p", async (isStreamed) => {
    play(host);
    const { messages } = anthropic();
    const request = { model: GPT, max_tokens: 2_000, ...THINKING };
    const question = { role: "user" as const, content: QUESTION };
    const first = { ...request, messages: [question] } as Anthropic.MessageCreateParamsNonStreaming;
    const asked = isStreamed ? await messages.stream(first).finalMessage() : await messages.create(first);
    const history = [question, { role: "assistant" as const, content: asked.content }, question];
    await messages.create({ ...first, messages: history });
    expect(listAt(seen().messages)[1]).toEqual({
      role: "assistant",
      content: "Let me think.",
      extra_content,
    });
  });

  test.each([false, true])("does not part or follow a plain text, streamed: %p", async (isStreamed) => {
    play(host);
    const request = {
      model: GPT,
      max_tokens: 2_000,
      messages: [{ role: "user" as const, content: QUESTION }],
    };
    const { messages } = anthropic();
    const asked = isStreamed ? await messages.stream(request).finalMessage() : await messages.create(request);
    expect(asked.content).toMatchObject([{ type: "text", text: "Let me think." }]);
    expect(asked.content).toHaveLength(1);
  });
});

describe("the AI SDK's responses", () => {
  test("bring Gemini's signature back", async () => {
    const [gemini] = HOSTS;
    if (!gemini) throw new Error("There is no host");
    play(gemini);
    const options = { openai: { store: false, include: ["reasoning.encrypted_content"] } };
    expect(await loopOfAi(createOpenAI(settings()).responses(GPT), options)).toMatchObject({ text: "Rain." });
    expect(returned()).toMatchObject(gemini.back);
  });
});

function signatureOf({ back }: Host): string {
  const [found] = JSON.stringify(back).match(/(?<="(?:thought_signature|data|signature)":")[^"]+/) ?? [];
  if (found === undefined) throw new Error("Nothing comes back");
  return found;
}
