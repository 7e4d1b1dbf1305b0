import { describe, expect, test } from "bun:test";
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
import { GPT, translatingGateway } from "./translating-gateway.ts";

const { upstream, settings, anthropic, claude, openai, seen } = translatingGateway();

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

/**
 * A host that signs or encrypts data of a call, with its whole and streamed answer, and what it must receive
 * back.
 */
interface Host {
  readonly name: string;
  readonly message: object;
  readonly deltas: readonly object[];
  readonly expected: object;
}

const streamedCall = (extra: object = {}) => ({ tool_calls: [{ index: 0, ...CALL, ...extra }] });

const HOSTS: readonly Host[] = [
  {
    name: "Gemini's signature of a call",
    message: { content: null, tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
    deltas: [{ role: "assistant" }, streamedCall({ extra_content: GEMINI_EXTRA })],
    expected: { tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
  },
  {
    name: "Gemini's signature of a call in a later chunk",
    message: { content: null, tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
    deltas: [streamedCall(), { tool_calls: [{ index: 0, extra_content: GEMINI_EXTRA }] }],
    expected: { tool_calls: [{ ...CALL, extra_content: GEMINI_EXTRA }] },
  },
  {
    name: "Gemini's encrypted reasoning through OpenRouter",
    message: { content: "", reasoning_details: [ENCRYPTED], tool_calls: [CALL] },
    deltas: [{ content: "", reasoning_details: [ENCRYPTED] }, streamedCall()],
    expected: { reasoning_details: [ENCRYPTED], tool_calls: [CALL] },
  },
];
const REASONING_HOSTS: readonly Host[] = [
  ...HOSTS,
  {
    name: "OpenAI's encrypted reasoning through OpenRouter",
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
    expected: {
      reasoning_details: JSON.parse(JSON.stringify([SUMMARY, OPENAI_DETAIL])),
      tool_calls: [CALL],
    },
  },
  {
    name: "Claude's signed reasoning through OpenRouter",
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
    expected: { reasoning_details: [CLAUDE_DETAIL], tool_calls: [CALL] },
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
  // Gemini finishes with a plain stop after a call.
  upstream().on(GPT, answers(message, deltas, "stop"), answers(rain, [rain], "stop"));
}

/** The assistant message that the host received back. */
function returnedMessage(): object {
  expect(upstream().seen).toHaveLength(2);
  const messages = listAt(seen().messages).map((each) => objectAt(each, "a message"));
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  return messages[1] ?? {};
}

const QUESTION = "How is Oslo?";
const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };
const inputSchema = jsonSchema<{ city: string }>(schema);
const look = tool({ description: "", inputSchema, execute: ({ city }) => `rain in ${city}` });

async function runWithAnthropic(thinking: object, isStreamed: boolean): Promise<unknown> {
  const { messages } = anthropic();
  const question: Anthropic.MessageParam = { role: "user", content: QUESTION };
  const tools = [{ name: "get_weather", input_schema: schema }];
  const request = { model: GPT, max_tokens: 2_000, tools, ...thinking };
  const first = { ...request, messages: [question] };
  const firstAnswer = isStreamed ? await messages.stream(first).finalMessage() : await messages.create(first);
  const call = firstAnswer.content.find((block) => block.type === "tool_use");
  expect(firstAnswer.stop_reason).toBe("tool_use");
  const result = { type: "tool_result" as const, tool_use_id: call?.id ?? "", content: "rain" };
  const history: Anthropic.MessageParam[] = [
    question,
    { role: "assistant", content: firstAnswer.content },
    { role: "user", content: [result] },
  ];
  return (await messages.create({ ...request, messages: history })).content.at(-1);
}

async function runWithAi(model: Parameters<typeof streamText>[0]["model"], options = {}): Promise<unknown> {
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

async function runWithLangchain(): Promise<unknown> {
  const { apiKey, baseURL } = settings();
  const chat = new ChatAnthropic({
    model: GPT,
    apiKey,
    maxRetries: 0,
    maxTokens: 2_000,
    anthropicApiUrl: baseURL.replace(/\/v1$/, ""),
  }).bindTools([{ name: "get_weather", input_schema: schema }]);
  const question = new HumanMessage(QUESTION);
  const firstAnswer = await chat.invoke([question]);
  const results = (firstAnswer.tool_calls ?? []).map(
    ({ id }) => new ToolMessage({ tool_call_id: id ?? "", content: "rain" }),
  );
  return { type: "text", text: (await chat.invoke([question, firstAnswer, ...results])).text };
}

async function runWithResponses(more: object): Promise<unknown> {
  const { responses } = openai();
  const tools = [{ type: "function" as const, name: "get_weather", strict: false, parameters: schema }];
  const request = { model: GPT, tools, store: false, ...more };
  const input: ResponseInput = [{ role: "user", content: QUESTION }];
  const firstAnswer = await responses.stream({ ...request, input }).finalResponse();
  const output = { type: "function_call_output" as const, call_id: ID, output: "rain" };
  const history = [...input, ...toResponseInputItems(firstAnswer.output), output];
  return { type: "text", text: (await responses.create({ ...request, input: history })).output_text };
}

const THINKING = { thinking: { type: "enabled", budget_tokens: 1_024 } };
const OMITTED = { thinking: { type: "adaptive", display: "omitted" } };
const AI_SDK_THINKING = { anthropic: { thinking: { type: "enabled", budgetTokens: 1_024 } } };
const WITH_ENCRYPTED = { include: ["reasoning.encrypted_content"], reasoning: { summary: "auto" } };
const direct = () => createOpenAICompatible({ ...settings(), name: "tollgate", includeUsage: true })(GPT);

describe.each(HOSTS)("$name returns to its host in a tool loop without reasoning", (host) => {
  test.each<[string, () => Promise<unknown>]>([
    ["@anthropic-ai/sdk, whole", () => runWithAnthropic({}, false)],
    ["@anthropic-ai/sdk, streamed", () => runWithAnthropic({}, true)],
    ["the AI SDK's Anthropic provider", () => runWithAi(claude())],
    ["LangChain's Anthropic client", runWithLangchain],
    ["OpenAI's responses", () => runWithResponses({})],
  ])("run by %s", async (_name, loop) => {
    play(host);
    expect(await loop()).toMatchObject({ type: "text", text: "Rain." });
    expect(returnedMessage()).toMatchObject(host.expected);
  });
});

describe.each(REASONING_HOSTS)("$name returns to its host in a tool loop with reasoning", (host) => {
  test.each<[string, () => Promise<unknown>]>([
    ["@anthropic-ai/sdk, whole", () => runWithAnthropic(THINKING, false)],
    ["@anthropic-ai/sdk, streamed", () => runWithAnthropic(THINKING, true)],
    ["the AI SDK's Anthropic provider", () => runWithAi(claude(), AI_SDK_THINKING)],
    ["OpenAI's responses", () => runWithResponses(WITH_ENCRYPTED)],
  ])("run by %s", async (_name, loop) => {
    play(host);
    expect(await loop()).toMatchObject({ type: "text", text: "Rain." });
    expect(returnedMessage()).toMatchObject(host.expected);
  });

  test("run by @anthropic-ai/sdk with omitted thinking", async () => {
    play(host);
    expect(await runWithAnthropic(OMITTED, true)).toMatchObject({ text: "Rain." });
    expect(JSON.stringify(returnedMessage())).toContain(signatureOf(host));
  });
});

describe("clients of chat completions", () => {
  test("send back Gemini's signature of a call unchanged", async () => {
    const [gemini] = HOSTS;
    if (!gemini) throw new Error("There is no host");
    play(gemini);
    expect(await runWithAi(direct())).toMatchObject({ text: "Rain." });
    expect(returnedMessage()).toMatchObject(gemini.expected);
  });

  test("send back reasoning details unchanged", async () => {
    for (const { message, expected } of REASONING_HOSTS) {
      upstream().reset();
      upstream().on(GPT, answers({ content: "Rain." }, [], "stop"));
      const result = { role: "tool" as const, tool_call_id: ID, content: "rain" };
      const history = { role: "assistant", ...message } as never;
      const messages = [{ role: "user" as const, content: QUESTION }, history, result];
      await openai().chat.completions.create({ model: GPT, messages });
      expect(listAt(seen().messages)[1]).toMatchObject(expected);
    }
  });
});

describe("Gemini's signature of a message", () => {
  const extra_content = GEMINI_EXTRA;
  const host = {
    message: { content: "Let me think.", extra_content },
    deltas: [{ content: "Let me " }, { content: "think.", extra_content }],
  };

  test.each([false, true])(
    "returns to its host when the client asked for thinking, streamed: %p",
    async (isStreamed) => {
      play(host);
      const { messages } = anthropic();
      const request = { model: GPT, max_tokens: 2_000, ...THINKING };
      const question = { role: "user" as const, content: QUESTION };
      const first = { ...request, messages: [question] } as Anthropic.MessageCreateParamsNonStreaming;
      const firstAnswer = isStreamed
        ? await messages.stream(first).finalMessage()
        : await messages.create(first);
      const history = [question, { role: "assistant" as const, content: firstAnswer.content }, question];
      await messages.create({ ...first, messages: history });
      expect(listAt(seen().messages)[1]).toEqual({
        role: "assistant",
        content: "Let me think.",
        extra_content,
      });
    },
  );

  test.each([false, true])("adds no block to a plain text, streamed: %p", async (isStreamed) => {
    play(host);
    const request = {
      model: GPT,
      max_tokens: 2_000,
      messages: [{ role: "user" as const, content: QUESTION }],
    };
    const { messages } = anthropic();
    const firstAnswer = isStreamed
      ? await messages.stream(request).finalMessage()
      : await messages.create(request);
    expect(firstAnswer.content).toMatchObject([{ type: "text", text: "Let me think." }]);
    expect(firstAnswer.content).toHaveLength(1);
  });
});

describe("the AI SDK's responses model", () => {
  test("sends back Gemini's signature", async () => {
    const [gemini] = HOSTS;
    if (!gemini) throw new Error("There is no host");
    play(gemini);
    const options = { openai: { store: false, include: ["reasoning.encrypted_content"] } };
    expect(await runWithAi(createOpenAI(settings()).responses(GPT), options)).toMatchObject({
      text: "Rain.",
    });
    expect(returnedMessage()).toMatchObject(gemini.expected);
  });
});

function signatureOf({ expected }: Host): string {
  const [found] = JSON.stringify(expected).match(/(?<="(?:thought_signature|data|signature)":")[^"]+/) ?? [];
  if (found === undefined) throw new Error("The host expects nothing back");
  return found;
}
