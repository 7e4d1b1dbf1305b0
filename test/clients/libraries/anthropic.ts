import Anthropic from "@anthropic-ai/sdk";
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

export const anthropic: Client = {
  name: "@anthropic-ai/sdk",
  surface: "messages",
  showsReasoning: true,
  stream: async (target) =>
    answerOf(await clientOf(target).messages.stream(requestOf(target)).finalMessage()),
  whole: async (target) => answerOf(await clientOf(target).messages.create(requestOf(target))),
};

function clientOf({ url, secret }: Target): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: secret, maxRetries: 0 });
}

function requestOf({ model }: Target) {
  return {
    model,
    max_tokens: OUTPUT_TOKENS_MAX,
    thinking: { type: "enabled" as const, budget_tokens: THINKING_TOKENS },
    messages: [{ role: "user" as const, content: PROMPT }],
    tools: TOOL_NAMES.map((name) => ({ name, input_schema: { type: "object" as const } })),
  };
}

function answerOf({ content, stop_reason, usage }: Anthropic.Message): ReadAnswer {
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    reasoning: content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    finish: finishOf(stop_reason),
    usage: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      cached,
      output: usage.output_tokens,
    },
  };
}
