import { printSse } from "../wire/sse.ts";
import type { DemoAnswer } from "./demo-answer.ts";

/** What the request asked of the shape of its answer. */
export interface DemoChatOptions {
  readonly choices: number;
  readonly includesUsage: boolean;
}

/** The answer as a chat completion. */
export function printDemoChat(answer: DemoAnswer, { choices }: DemoChatOptions): string {
  const message = { role: "assistant", content: answer.tokens.join(""), refusal: null };
  return JSON.stringify({
    ...headOf(answer, "chat.completion"),
    choices: indexes(choices).map((index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: finishReasonOf(answer),
    })),
    usage: usageOf(answer, choices),
  });
}

/** The answer as a chat stream, an event at a time; a token each, one choice after the other. */
export function* streamDemoChat(
  answer: DemoAnswer,
  { choices, includesUsage }: DemoChatOptions,
): Generator<string> {
  const head = headOf(answer, "chat.completion.chunk");
  const usage = includesUsage ? { usage: null } : {};
  const print = (index: number, delta: object, finishReason: string | null) =>
    printSse({
      data: JSON.stringify({
        ...head,
        choices: [{ index, delta, logprobs: null, finish_reason: finishReason }],
        ...usage,
      }),
    });

  for (const index of indexes(choices)) {
    yield print(index, { role: "assistant", content: "", refusal: null }, null);
    for (const content of answer.tokens) yield print(index, { content }, null);
    yield print(index, {}, finishReasonOf(answer));
  }
  if (includesUsage) {
    yield printSse({ data: JSON.stringify({ ...head, choices: [], usage: usageOf(answer, choices) }) });
  }
  yield printSse({ data: "[DONE]" });
}

function headOf({ id, createdAtS, model }: DemoAnswer, object: string) {
  return { id: `chatcmpl-${id}`, object, created: createdAtS, model, system_fingerprint: null };
}

function indexes(choices: number): number[] {
  return Array.from({ length: choices }, (_, index) => index);
}

function finishReasonOf({ isCut }: DemoAnswer): string {
  return isCut ? "length" : "stop";
}

function usageOf({ inputTokens, tokens }: DemoAnswer, choices: number) {
  const outputTokens = tokens.length * choices;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}
