import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  streamText,
  type ToolSet,
} from "ai";
import {
  type Client,
  finishOf,
  OUTPUT_TOKENS_MAX,
  PROMPT,
  type ReadAnswer,
  type Target,
  THINKING_TOKENS,
  TOOL_NAMES,
} from "./client.ts";

const inputSchema = jsonSchema<Record<string, unknown>>({ type: "object", properties: {} });
const TOOLS: ToolSet = Object.fromEntries(TOOL_NAMES.map((name) => [name, { description: "", inputSchema }]));

export const AI_SDK: readonly Client[] = [
  clientWith({
    name: "the AI SDK with @ai-sdk/openai",
    surface: "chat",
    showsReasoning: false,
    modelOf: ({ model, ...to }) => createOpenAI(settingsOf(to)).chat(model),
  }),
  clientWith({
    name: "the AI SDK with @ai-sdk/openai's default model",
    surface: "responses",
    showsReasoning: false,
    modelOf: ({ model, ...to }) => createOpenAI(settingsOf(to))(model),
  }),
  clientWith({
    name: "the AI SDK with @ai-sdk/openai-compatible",
    surface: "chat",
    showsReasoning: true,
    modelOf: ({ model, ...to }) =>
      createOpenAICompatible({ ...settingsOf(to), name: "tollgate", includeUsage: true }).chatModel(model),
  }),
  clientWith({
    name: "the AI SDK with @ai-sdk/anthropic",
    surface: "messages",
    showsReasoning: true,
    modelOf: ({ model, ...to }) => createAnthropic(settingsOf(to))(model),
  }),
];

interface Provider extends Pick<Client, "name" | "surface" | "showsReasoning"> {
  modelOf(target: Target): LanguageModel;
}

function clientWith({ modelOf, ...client }: Provider): Client {
  return {
    ...client,
    stream: async (target) => {
      const errors: unknown[] = [];
      const result = streamText({
        ...requestOf(modelOf(target)),
        onError: ({ error }) => void errors.push(error),
      });
      await result.consumeStream();
      if (errors.length > 0) throw errors[0];
      return answerOf({
        text: await result.text,
        reasoningText: await result.reasoningText,
        toolCalls: await result.toolCalls,
        finishReason: await result.finishReason,
        usage: await result.usage,
      });
    },
    whole: async (target) => answerOf(await generateText(requestOf(modelOf(target)))),
  };
}

function settingsOf({ url, secret }: Omit<Target, "model">) {
  return { baseURL: `${url}/v1`, apiKey: secret };
}

function requestOf(model: LanguageModel) {
  const thinking = { type: "enabled", budgetTokens: THINKING_TOKENS };
  return {
    model,
    prompt: PROMPT,
    tools: TOOLS,
    maxRetries: 0,
    maxOutputTokens: OUTPUT_TOKENS_MAX - THINKING_TOKENS,
    providerOptions: { anthropic: { thinking } },
  };
}

interface Answer {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly toolCalls: readonly {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
    readonly invalid?: boolean | undefined;
  }[];
  readonly finishReason: string;
  readonly usage: LanguageModelUsage;
}

function answerOf({ text, reasoningText, toolCalls, finishReason, usage }: Answer): ReadAnswer {
  return {
    text,
    reasoning: reasoningText ?? "",
    calls: toolCalls.map(({ toolCallId, toolName, input, invalid }) => {
      if (invalid) throw new Error("The library rejected a call as invalid");
      return { id: toolCallId, name: toolName, input };
    }),
    finish: finishOf(finishReason),
    usage: {
      input: usage.inputTokens ?? -1,
      cached: usage.inputTokenDetails.cacheReadTokens ?? -1,
      output: usage.outputTokens ?? -1,
    },
  };
}
