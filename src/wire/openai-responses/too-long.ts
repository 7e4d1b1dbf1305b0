import type { PromptTooLong } from "../upstream-fault.ts";
import { findPromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";

const TOO_LONG: TooLongPhrases = {
  phrase: /context_length_exceeded|exceeds the context window|maximum context length|prompt is too long/i,
  tokens: [
    /resulted in (\d[\d,]{0,11}) tokens/i,
    /your request has (\d[\d,]{0,11}) input tokens/i,
    /you requested (\d[\d,]{0,11}) tokens/i,
    /prompt is too long: (\d[\d,]{0,11}) tokens/i,
  ],
};

/** Whether a refusal, or a failure in a stream, means that the prompt is too long. */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
