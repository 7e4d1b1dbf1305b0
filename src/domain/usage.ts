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

/** The classes of a report that are counts; of the others the last count, from `before`. A sum beyond all is no count. */
export function countedOf(usage: Usage, before: Usage = NO_USAGE): Usage {
  if (isCounted(usage)) return usage;
  const counted = {
    inputTokens: isCount(usage.inputTokens) ? usage.inputTokens : before.inputTokens,
    cachedInputTokens: isCount(usage.cachedInputTokens) ? usage.cachedInputTokens : before.cachedInputTokens,
    cacheWriteTokens: isCount(usage.cacheWriteTokens) ? usage.cacheWriteTokens : before.cacheWriteTokens,
    cacheWrite1hTokens: isCount(usage.cacheWrite1hTokens)
      ? usage.cacheWrite1hTokens
      : before.cacheWrite1hTokens,
    outputTokens: isCount(usage.outputTokens) ? usage.outputTokens : before.outputTokens,
  };
  return isCounted(counted) ? counted : before;
}

/** Whether it is a whole number from 0. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The most tokens that an answer is expected to use. */
export interface UsageBound {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export function isWithin(usage: Usage, { inputTokens, outputTokens }: UsageBound): boolean {
  return inputTokensOf(usage) <= inputTokens && usage.outputTokens <= outputTokens;
}

export type InputClass = Exclude<keyof Usage, "outputTokens">;

/** Cuts a usage down to a bound. Input is cut from the first of `order` on, each class to 0 before the next one. */
export function cutUsage(usage: Usage, bound: UsageBound, order: readonly InputClass[]): Usage {
  let excess = inputTokensOf(usage) - bound.inputTokens;
  const cut = { ...usage, outputTokens: Math.min(usage.outputTokens, bound.outputTokens) };
  for (const name of order) {
    const tokens = Math.min(cut[name], Math.max(excess, 0));
    cut[name] -= tokens;
    excess -= tokens;
  }
  return cut;
}
