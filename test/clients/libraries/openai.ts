import OpenAI from "openai";
import type { ChatCompletion } from "openai/resources/chat/completions";
import {
  type Client,
  finishOf,
  OUTPUT_TOKENS_MAX,
  PROMPT,
  type ReadAnswer,
  type Target,
  TOOL_NAMES,
} from "./client.ts";

export const openai: Client = {
  name: "openai",
  surface: "chat",
  showsReasoning: false,
  stream: async (target) => {
    const stream = clientOf(target).chat.completions.stream({
      ...requestOf(target),
      stream_options: { include_usage: true },
    });
    return answerOf(await stream.finalChatCompletion());
  },
  whole: async (target) => answerOf(await clientOf(target).chat.completions.create(requestOf(target))),
};

function clientOf({ url, secret }: Target): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
}

function requestOf({ model }: Target) {
  return {
    model,
    max_completion_tokens: OUTPUT_TOKENS_MAX,
    messages: [{ role: "user" as const, content: PROMPT }],
    tools: TOOL_NAMES.map((name) => ({
      type: "function" as const,
      function: { name, parameters: { type: "object", properties: {} } },
    })),
  };
}

function answerOf({ choices, usage }: ChatCompletion): ReadAnswer {
  const [choice] = choices;
  if (!choice) throw new Error("The answer has no choice");
  const { message, finish_reason } = choice;
  return {
    text: message.content ?? "",
    reasoning: "",
    calls: (message.tool_calls ?? []).map((call) => {
      if (call.type !== "function") throw new Error("A call has another type");
      return { id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) };
    }),
    finish: finishOf(finish_reason),
    usage: {
      input: usage?.prompt_tokens ?? -1,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? -1,
      output: usage?.completion_tokens ?? -1,
    },
  };
}
