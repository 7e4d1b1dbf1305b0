import type { PromptTooLong } from "./protocol.ts";

const READ_CHARS_MAX = 65_536;

/** How one provider says that a prompt is too long. */
export interface TooLongPhrases {
  /** Whether it says so at all. */
  readonly said: RegExp;
  /** Where the prompt's tokens stand, in the first group; the first that matches counts. */
  readonly tokens: readonly RegExp[];
}

/** Looks for a provider's phrases in an error body. Only digits come out; commas in them are dropped. */
export function findPromptTooLong(text: string, { said, tokens }: TooLongPhrases): PromptTooLong | undefined {
  const head = text.slice(0, READ_CHARS_MAX);
  if (!said.test(head)) return undefined;
  for (const pattern of tokens) {
    const digits = pattern.exec(head)?.[1];
    if (digits) return { tokens: Number(digits.replaceAll(",", "")) };
  }
  return { tokens: undefined };
}
