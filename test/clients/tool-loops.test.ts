import { describe, expect, test } from "bun:test";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import { answerNeutrally } from "../support/format-pairs/format-pair.ts";
import { neutralAnswer } from "../support/format-pairs/neutral-answer.ts";
import { listAt, objectAt } from "../support/strict-json.ts";
import { CLAUDE, GPT, translatingGateway } from "./translating-gateway.ts";

const { upstream, settings, openai, anthropic, compatible, claude, seen } = translatingGateway();

const oslo = { id: "call_oslo_1", name: "get_weather", input: { city: "Oslo" } };
const rome = { id: "call_rome_2", name: "get_weather", input: { city: "Rome" } };
const answers = neutralAnswer({ text: "It rains in both." });
const callsBoth = neutralAnswer({
  reasoning: "Both.",
  text: "I will look.",
  calls: [oslo, rome],
  finish: "tool_calls",
});

/** The messages of calls and results that each upstream must receive, whatever the client. */
const EXPECTED_MESSAGES = {
  [CLAUDE]: [
    {
      role: "assistant",
      content: [
        { type: "text", text: "I will look." },
        { type: "tool_use", id: oslo.id, name: oslo.name, input: oslo.input },
        { type: "tool_use", id: rome.id, name: rome.name, input: rome.input },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: oslo.id, content: "rain in Oslo" },
        { type: "tool_result", tool_use_id: rome.id, content: "rain in Rome" },
      ],
    },
  ],
  [GPT]: [
    {
      role: "assistant",
      content: "I will look.",
      tool_calls: [oslo, rome].map(({ id, name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      })),
    },
    { role: "tool", tool_call_id: oslo.id, content: "rain in Oslo" },
    { role: "tool", tool_call_id: rome.id, content: "rain in Rome" },
  ],
};

const run = ({ city }: { city: string }) => `rain in ${city}`;
const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };
const inputSchema = jsonSchema<{ city: string }>(schema);

/** Each runner lets a library run its own loop and returns the last text. */
const RUNNERS: readonly (readonly [
  name: string,
  model: keyof typeof EXPECTED_MESSAGES,
  run: () => Promise<unknown>,
])[] = [
  ["openai's runTools", CLAUDE, runWithOpenai],
  ["the AI SDK with @ai-sdk/openai-compatible", CLAUDE, () => runWithAi(compatible())],
  ["@langchain/openai", CLAUDE, runWithLangchain],
  ["@anthropic-ai/sdk", GPT, runWithAnthropic],
  ["the AI SDK with @ai-sdk/anthropic", GPT, () => runWithAi(claude())],
];

describe("a tool loop in the other format", () => {
  test.each(RUNNERS)("is completed by %s", async (_name, model, runLoop) => {
    upstream().on(model, answerNeutrally(callsBoth), answerNeutrally(answers));
    expect(await runLoop()).toBe(answers.text);
    expect(upstream().seen).toHaveLength(2);
    const [first] = listAt(seen().tools).map((each) => objectAt(each, "a tool"));
    expect(model === CLAUDE ? first : first?.function).toMatchObject({
      name: "get_weather",
      [model === CLAUDE ? "input_schema" : "parameters"]: { properties: schema.properties },
    });
    expect(simplify(listAt(seen().messages).slice(1))).toMatchObject(EXPECTED_MESSAGES[model]);
  });
});

/** Replaces results with a list of texts by one text, because libraries send either form. */
function simplify(messages: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(messages), (_key, value) => {
    if (value?.type !== "tool_result" || !Array.isArray(value.content)) return value;
    return { ...value, content: value.content.map(({ text }: { text: string }) => text).join("") };
  });
}

async function runWithOpenai(): Promise<unknown> {
  const runner = openai().chat.completions.runTools({
    model: CLAUDE,
    stream: true,
    messages: [{ role: "user", content: "Oslo and Rome?" }],
    tools: [
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "",
          parameters: schema,
          parse: JSON.parse,
          function: run,
        },
      },
    ],
  });
  return runner.finalContent();
}

async function runWithAi(model: Parameters<typeof streamText>[0]["model"]): Promise<unknown> {
  const get_weather = tool({ description: "", inputSchema, execute: run });
  const result = streamText({
    model,
    prompt: "Oslo and Rome?",
    tools: { get_weather },
    stopWhen: isStepCount(3),
    maxRetries: 0,
  });
  return result.text;
}

async function runWithLangchain(): Promise<unknown> {
  const { baseURL, apiKey } = settings();
  const chat = new ChatOpenAI({ model: CLAUDE, apiKey, maxRetries: 0, configuration: { baseURL } }).bindTools(
    [{ type: "function", function: { name: "get_weather", parameters: schema } }],
  );
  const question = new HumanMessage("Oslo and Rome?");
  const firstAnswer = await chat.invoke([question]);
  const results = (firstAnswer.tool_calls ?? []).map(
    ({ id, args }) => new ToolMessage({ tool_call_id: id ?? "", content: `rain in ${args.city}` }),
  );
  return (await chat.invoke([question, firstAnswer, ...results])).text;
}

async function runWithAnthropic(): Promise<unknown> {
  const question = { role: "user" as const, content: "Oslo and Rome?" };
  const request = { model: GPT, max_tokens: 2_000, tools: [{ name: "get_weather", input_schema: schema }] };
  const thinking = { type: "enabled" as const, budget_tokens: 1_024 };
  const firstAnswer = await anthropic()
    .messages.stream({ ...request, thinking, messages: [question] })
    .finalMessage();
  const results = firstAnswer.content.flatMap((block) =>
    block.type === "tool_use"
      ? [
          {
            type: "tool_result" as const,
            tool_use_id: block.id,
            content: `rain in ${Object(block.input).city}`,
          },
        ]
      : [],
  );
  const messages = [
    question,
    { role: "assistant" as const, content: firstAnswer.content },
    { role: "user" as const, content: results },
  ];
  const last = await anthropic().messages.create({ ...request, thinking, messages });
  return last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
