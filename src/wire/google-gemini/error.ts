import { findPromptTooLong, type PromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";

const TOO_LONG: TooLongPhrases = {
  phrase: /input token count.{0,40}exceeds|exceeds the maximum (?:number of tokens|token limit)/i,
  tokens: [/input token count\D{0,20}(\d[\d,]{0,11})/i],
};

/**
 * Returns whether an upstream error rejects the prompt as too long.
 *
 * @see https://ai.google.dev/gemini-api/docs/troubleshooting
 */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
