import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { ChatAnthropic } from "@langchain/anthropic";
import { isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";
import type { ResponseInput } from "openai/resources/responses/responses";
import {
  API_KEY,
  chunkOf,
  type Json,
  type ScriptedGoogle,
  startScriptedGoogle,
  USAGE,
} from "../support/scripted-google.ts";
import { listAt, objectAt } from "../support/strict-json.ts";
import { scriptedModel, scriptedRoute, scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const MODEL = "gemini-3-flash-preview";
const SIGNATURE = "c2lnbmF0dXJlLW9mLXRob3VnaHRz";
const ANSWER = "It rains in both.";

let google: ScriptedGoogle;
let gateway: TestGateway;
beforeAll(async () => {
  google = startScriptedGoogle();
  const traits = { reasoning: "effort", sampling: true } as const;
  gateway = await startTestGateway({
    upstreams: () => [
      scriptedUpstream("gemini", "gemini", { baseUrl: `${google.url}/v1beta`, apiKey: API_KEY }),
    ],
    models: [scriptedModel("gemini", "gemini", { routes: [scriptedRoute("gemini", MODEL, { traits })] })],
  });
});
beforeEach(() => {
  google.reset();
  const oslo = { functionCall: { id: "f1", name: "get_weather", args: { city: "Oslo" } } };
  const rome = { functionCall: { id: "f2", name: "get_weather", args: { city: "Rome" } } };
  google.on(
    MODEL,
    [
      chunkOf([{ text: "Both at once.", thought: true }]),
      chunkOf([{ ...oslo, thoughtSignature: SIGNATURE }, rome]),
      chunkOf([], { usageMetadata: USAGE }, "STOP"),
    ],
    [chunkOf([{ text: "It rains " }]), chunkOf([{ text: "in both." }], { usageMetadata: USAGE }, "STOP")],
  );
});
afterAll(async () => {
  await gateway.stop();
  await google.stop();
});

const settings = () => ({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });
const run = ({ city }: { city: string }) => `rain in ${city}`;
const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };

async function runWithOpenai(): Promise<unknown> {
  const runner = new OpenAI(settings()).chat.completions.runTools({
    model: "gemini",
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

async function runWithResponses(): Promise<unknown> {
  const client = new OpenAI(settings());
  const request = {
    model: "gemini",
    include: ["reasoning.encrypted_content" as const],
    tools: [{ type: "function" as const, name: "get_weather", parameters: schema, strict: false }],
  };
  const question: ResponseInput = [{ role: "user", content: "Oslo and Rome?" }];
  const first = await client.responses.create({ ...request, input: question });
  const results = first.output.flatMap((item) =>
    item.type === "function_call"
      ? [
          {
            type: "function_call_output" as const,
            call_id: item.call_id,
            output: run(JSON.parse(item.arguments)),
          },
        ]
      : [],
  );
  const input = [...question, ...first.output, ...results] as ResponseInput;
  return (await client.responses.create({ ...request, input })).output_text;
}

async function runWithAnthropic(): Promise<unknown> {
  const client = new Anthropic({ ...settings(), baseURL: gateway.url });
  const question = { role: "user" as const, content: "Oslo and Rome?" };
  const request = {
    model: "gemini",
    max_tokens: 4_000,
    thinking: { type: "enabled" as const, budget_tokens: 1_024 },
    tools: [{ name: "get_weather", input_schema: schema }],
  };
  const { content } = await client.messages.stream({ ...request, messages: [question] }).finalMessage();
  const results = content.flatMap((block) =>
    block.type === "tool_use"
      ? [
          {
            type: "tool_result" as const,
            tool_use_id: block.id,
            content: run(block.input as { city: string }),
          },
        ]
      : [],
  );
  const answer = await client.messages
    .stream({
      ...request,
      messages: [question, { role: "assistant", content }, { role: "user", content: results }],
    })
    .finalMessage();
  return answer.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
}

function runWithAi(model: Parameters<typeof streamText>[0]["model"]): PromiseLike<unknown> {
  const inputSchema = jsonSchema<{ city: string }>(schema);
  return streamText({
    model,
    prompt: "Oslo and Rome?",
    tools: { get_weather: tool({ description: "", inputSchema, execute: run }) },
    stopWhen: isStepCount(3),
    maxRetries: 0,
    // The gateway stores nothing, so earlier items must be sent whole.
    providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
  }).text;
}

/** Each client runs a loop of tools. Those that send whole answers back keep the signature of the calls. */
const CLIENTS: readonly (readonly [
  name: string,
  keepsSignature: boolean,
  run: () => PromiseLike<unknown>,
])[] = [
  ["openai's runTools", false, runWithOpenai],
  ["openai's responses", true, runWithResponses],
  ["@anthropic-ai/sdk", true, runWithAnthropic],
  [
    "@ai-sdk/openai-compatible",
    false,
    () => runWithAi(createOpenAICompatible({ ...settings(), name: "t" })("gemini")),
  ],
  ["@ai-sdk/openai", true, () => runWithAi(createOpenAI(settings())("gemini"))],
  ["@ai-sdk/anthropic", false, () => runWithAi(createAnthropic(settings())("gemini"))],
];

describe("a tool loop with Gemini", () => {
  test.each(CLIENTS)("case 129: is completed by %s", async (_name, keepsSignature, runLoop) => {
    expect(await runLoop()).toBe(ANSWER);
    expect(google.refused).toEqual([]);
    const contents = listAt(google.seen.at(-1)?.body.contents).map((each) => objectAt(each, "a content"));
    const [, model, user] = contents;
    expect(listAt(model?.parts).map((part) => objectAt(part, "a part").functionCall)).toEqual([
      { id: "f1", name: "get_weather", args: { city: "Oslo" } },
      { id: "f2", name: "get_weather", args: { city: "Rome" } },
    ]);
    const first = objectAt(listAt(model?.parts)[0], "a part");
    expect(first.thoughtSignature).toEqual(keepsSignature ? SIGNATURE : expect.any(String));
    expect(listAt(user?.parts).map(responseOf)).toEqual(["rain in Oslo", "rain in Rome"]);
  });
});

test("LangChain's ChatAnthropic reads the input that Gemini reports at the start of its stream", async () => {
  google.on(MODEL, [
    chunkOf([{ text: "It rains " }], { usageMetadata: USAGE }),
    chunkOf([{ text: "in both." }], { usageMetadata: USAGE }, "STOP"),
  ]);
  const { url, secret } = gateway;
  const chat = new ChatAnthropic({ model: "gemini", apiKey: secret, maxTokens: 100, anthropicApiUrl: url });
  const [first, ...rest] = await Array.fromAsync(await chat.stream("Where?"));
  const whole = rest.reduce((sum, chunk) => sum?.concat(chunk), first);
  expect(whole?.text).toBe(ANSWER);
  expect(whole?.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 7, total_tokens: 14 });
});

function responseOf(part: unknown): unknown {
  const { functionResponse } = part as { functionResponse: { response: Json } };
  return functionResponse.response.output;
}
