import { ChatAnthropic } from "@langchain/anthropic";
import type { AIMessageChunk, UsageMetadata } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
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

const TOOLS = TOOL_NAMES.map((name) => ({
  type: "function",
  function: { name, description: "", parameters: { type: "object", properties: {} } },
}));

export const LANGCHAIN: readonly Client[] = [
  clientWith("@langchain/openai", "chat", ({ url, secret, model }) =>
    new ChatOpenAI({
      model,
      apiKey: secret,
      maxRetries: 0,
      configuration: { baseURL: `${url}/v1` },
    }).bindTools(TOOLS),
  ),
  clientWith("@langchain/anthropic", "messages", ({ url, secret, model }) =>
    new ChatAnthropic({
      model,
      apiKey: secret,
      maxRetries: 0,
      maxTokens: OUTPUT_TOKENS_MAX,
      thinking: { type: "enabled", budget_tokens: THINKING_TOKENS },
      anthropicApiUrl: url,
    }).bindTools(TOOLS),
  ),
];

interface Chat {
  stream(prompt: string): Promise<AsyncIterable<AIMessageChunk>>;
  invoke(prompt: string): Promise<AIMessageChunk>;
}

function clientWith(name: string, surface: Client["surface"], chatOf: (target: Target) => Chat): Client {
  return {
    name,
    surface,
    showsReasoning: false,
    stream: async (target) => {
      const [first, ...rest] = await Array.fromAsync(await chatOf(target).stream(PROMPT));
      if (!first) throw new Error("The stream has no chunk");
      return answerOf(rest.reduce((sum, chunk) => sum.concat(chunk), first));
    },
    whole: async (target) => answerOf(await chatOf(target).invoke(PROMPT)),
  };
}

/** The members of a message that are read here. LangChain's general message type has no usage. */
interface Answer
  extends Pick<AIMessageChunk, "text" | "tool_calls" | "response_metadata" | "additional_kwargs"> {
  readonly usage_metadata?: UsageMetadata | undefined;
}

function answerOf(message: Answer): ReadAnswer {
  const { tool_calls = [], usage_metadata: usage, response_metadata, additional_kwargs } = message;
  return {
    text: message.text,
    reasoning: "",
    calls: tool_calls.map(({ id, name, args }) => ({ id: id ?? "", name, input: args })),
    finish: finishOf(
      response_metadata.finish_reason ?? response_metadata.stop_reason ?? additional_kwargs.stop_reason,
    ),
    usage: {
      input: usage?.input_tokens ?? -1,
      cached: usage?.input_token_details?.cache_read ?? -1,
      output: usage?.output_tokens ?? -1,
    },
  };
}
