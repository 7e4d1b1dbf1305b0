/** Tokens of one answer in disjoint classes: each token is in exactly one, so each is paid once. */
export interface Usage {
  /** Input read anew: neither from a cache nor written to one. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Input written to the short-lived prompt cache. */
  readonly cacheWriteTokens: number;
  /** Input written to the one-hour prompt cache. */
  readonly cacheWrite1hTokens: number;
  /** All output, reasoning included. */
  readonly outputTokens: number;
}

export const NO_USAGE: Usage = Object.freeze({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
});

/** Every input token, whatever its class. */
export function inputTokensOf(usage: Usage): number {
  return usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
}

/** Every token of the answer: what a tokens-per-minute limit counts. */
export function totalTokensOf(usage: Usage): number {
  return inputTokensOf(usage) + usage.outputTokens;
}

/** Whether all of it are whole numbers from 0, and so is their sum: a client is told no other. */
export function isCounted(usage: Usage): boolean {
  return [...Object.values(usage), totalTokensOf(usage)].every(isCount);
}

/** Whether it is a whole number from 0. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/**
 * Whether a reported usage can be true: whole numbers from 0, no more input than the context
 * window takes and no more output than was asked for plus a tenth. What cannot be true counts as missing.
 */
export function isPlausible(
  usage: Usage,
  bounds: { inputTokensMax: number; outputTokensMax: number },
): boolean {
  if (!isCounted(usage)) return false;
  return inputTokensOf(usage) <= bounds.inputTokensMax && usage.outputTokens <= bounds.outputTokensMax * 1.1;
}
