import { findPromptTooLong, type PromptTooLong, type TooLongPhrases } from "../upstream-fault.ts";

/** Bedrock puts the words of the model's own host behind its own: those of Claude, vLLM and others. */
const TOO_LONG: TooLongPhrases = {
  phrase:
    /is too long|exceed context limit|exceeds? (?:the )?(?:model's )?(?:maximum )?context|maximum context length|too many (?:input|total text|prompt) /i,
  tokens: [
    /prompt is too long\D{0,40}(\d[\d,]{0,11}) tokens/i,
    /(?:requested|resulted in|prompt contains|input (?:has|contains)|length of) (\d[\d,]{0,11})(?: input)? tokens/i,
    /exceed context limit: (\d[\d,]{0,11}) \+/i,
    /(\d[\d,]{0,11}) in the messages/i,
    /(\d[\d,]{0,11}) input tokens/i,
  ],
};

/**
 * Returns whether an error of Bedrock rejects the prompt as too long.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
 */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
