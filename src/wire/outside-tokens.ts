import { isCount } from "../domain/usage.ts";

/** What an OpenAI-shaped usage reports, before it is split into classes. Counts may be absurd. */
export interface ReportedTokens {
  /** The provider's whole input count. */
  readonly input: number;
  readonly output: number;
  /** Input tokens read from a cache or written to one. */
  readonly cached: number;
  readonly reasoning: number | undefined;
  readonly total: unknown;
}

/** Tokens that the total holds and the counts of input and output leave out. */
export interface ExtraTokens {
  readonly input: number;
  readonly output: number;
}

const NONE: ExtraTokens = { input: 0, output: 0 };

/**
 * Finds tokens that only `total_tokens` shows. A gap between the total and input plus output is, in this order:
 * reasoning counted beside the output when it equals the reasoning, cached input counted beside the input when it
 * equals that, and otherwise reasoning up to the number reported. Without a reported number, the gap is output.
 *
 * @see https://docs.x.ai/docs/key-information/consumption-and-rate-limits xAI counts reasoning in the total alone.
 * @see https://ai.google.dev/gemini-api/docs/openai Gemini reports no number of thinking tokens.
 */
export function findExtraTokens({ input, output, cached, reasoning, total }: ReportedTokens): ExtraTokens {
  const gap = isCount(total) ? total - input - output : 0;
  if (!(gap > 0) || input < 0 || output < 0) return NONE;
  if (gap === reasoning) return { input: 0, output: gap };
  if (gap === cached) return { input: gap, output: 0 };
  return { input: 0, output: Math.min(gap, reasoning ?? gap) };
}
