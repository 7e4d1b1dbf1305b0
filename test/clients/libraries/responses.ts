import OpenAI from "openai";
import type { Response } from "openai/resources/responses/responses";
import {
  type Client,
  OUTPUT_TOKENS_MAX,
  PROMPT,
  type ReadAnswer,
  type Target,
  TOOL_NAMES,
} from "./client.ts";

/** OpenAI's SDK with its responses API. */
export const responses: Client = {
  name: "openai's responses",
  surface: "responses",
  showsReasoning: false,
  stream: async (target) =>
    answerOf(await clientOf(target).responses.stream(requestOf(target)).finalResponse()),
  whole: async (target) => answerOf(await clientOf(target).responses.create(requestOf(target))),
};

function clientOf({ url, secret }: Target): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
}

function requestOf({ model }: Target) {
  return {
    model,
    max_output_tokens: OUTPUT_TOKENS_MAX,
    input: PROMPT,
    tools: TOOL_NAMES.map((name) => ({
      type: "function" as const,
      name,
      strict: false,
      parameters: { type: "object", properties: {} },
    })),
  };
}

function answerOf(response: Response): ReadAnswer {
  const { output, output_text, usage } = response;
  const calls = output.flatMap((item) =>
    item.type === "function_call"
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
      : [],
  );
  return {
    text: output_text,
    reasoning: "",
    calls,
    finish: finishOf(response, calls.length > 0),
    usage: {
      input: usage?.input_tokens ?? -1,
      cached: usage?.input_tokens_details.cached_tokens ?? -1,
      output: usage?.output_tokens ?? -1,
    },
  };
}

function finishOf(
  { status, incomplete_details: details }: Response,
  hasCalls: boolean,
): ReadAnswer["finish"] {
  if (status === "completed") return hasCalls ? "tool_calls" : "stop";
  if (status !== "incomplete") throw new Error(`The response has the unknown status ${status}`);
  return details?.reason === "content_filter" ? "content_filter" : "length";
}
