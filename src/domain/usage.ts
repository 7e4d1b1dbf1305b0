import { MODAL_CLASSES, type ModalTokens } from "./modalities.ts";
import type { ToolCalls } from "./tool-fees.ts";
import type { UnitKind } from "./units.ts";

/** The tokens of one answer in disjoint classes, so that each token is charged once. */
export interface TokenUsage {
  /** Input that was neither read from a cache nor written to one. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Input written to the 5-minute prompt cache. */
  readonly cacheWriteTokens: number;
  /** Input written to the one-hour prompt cache. */
  readonly cacheWrite1hTokens: number;
  /** All output, including reasoning. */
  readonly outputTokens: number;
}

/** What one answer is charged for: tokens, or units of a model that is priced by unit. */
export interface Usage extends TokenUsage {
  /** `undefined` for a model that is priced by tokens. */
  readonly units?: number | undefined;
  /** Size and quality of images as the answer reports them. */
  readonly unitKind?: UnitKind | undefined;
  /** How often tools ran at the provider; absent for none. */
  readonly calls?: ToolCalls | undefined;
  /** The tokens of audio, which the classes above contain. */
  readonly audio?: ModalTokens | undefined;
  /** The tokens of images, which the classes above contain. */
  readonly image?: ModalTokens | undefined;
}

export const NO_USAGE: TokenUsage = Object.freeze({
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
});

/** Bytes of ordinary text per token, on average. */
export const BYTES_PER_TOKEN = 4;
/** No tokenizer makes more than one token of every two bytes of ordinary text. */
export const BYTES_PER_TOKEN_MIN = 2;

/** Returns the input tokens of all classes. */
export function inputTokensOf(usage: Usage): number {
  return usage.inputTokens + usage.cachedInputTokens + usage.cacheWriteTokens + usage.cacheWrite1hTokens;
}

/** Adds the tokens of two answers, class by class. */
export function addTokens(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteTokens: one.cacheWriteTokens + other.cacheWriteTokens,
    cacheWrite1hTokens: one.cacheWrite1hTokens + other.cacheWrite1hTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

/** Returns all tokens, as a tokens-per-minute limit counts them. */
export function totalTokensOf(usage: Usage): number {
  return inputTokensOf(usage) + usage.outputTokens;
}

/** Whether every class and the sum are whole numbers from 0. Only such usage is reported to clients. */
export function isCounted(usage: Usage): boolean {
  return (
    isCount(usage.inputTokens) &&
    isCount(usage.cachedInputTokens) &&
    isCount(usage.cacheWriteTokens) &&
    isCount(usage.cacheWrite1hTokens) &&
    isCount(usage.outputTokens) &&
    (usage.units === undefined || isCount(usage.units)) &&
    isCount(totalTokensOf(usage))
  );
}

/** Whether the tokens of audio and images are counts, and no more than those of the classes that contain them. */
export function areModalitiesCounted({ audio, image, ...classes }: Usage): boolean {
  return MODAL_CLASSES.every(([name]) => {
    const [heard, seen] = [audio?.[name] ?? 0, image?.[name] ?? 0];
    return isCount(heard) && isCount(seen) && heard + seen <= classes[name];
  });
}

/**
 * Replaces every class that is not a whole number by the same class of `before`. Returns `before` if the sum
 * is above the safe integers.
 */
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

/** Whether a value is a whole number from 0. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** The maximum of tokens that an answer is expected to use. */
export interface UsageBound {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Default: 0. */
  readonly units?: number | undefined;
}

export function isWithin(usage: Usage, { inputTokens, outputTokens, units = 0 }: UsageBound): boolean {
  if (usage.units !== undefined && usage.units > units) return false;
  return inputTokensOf(usage) <= inputTokens && usage.outputTokens <= outputTokens;
}

export type InputClass = Exclude<keyof TokenUsage, "outputTokens">;

/** Reduces usage to a bound. Input classes are reduced in `order`, each to 0 before the next. */
export function cutUsage(usage: Usage, bound: UsageBound, order: readonly InputClass[]): Usage {
  let excess = inputTokensOf(usage) - bound.inputTokens;
  const cut = {
    ...usage,
    outputTokens: Math.min(usage.outputTokens, bound.outputTokens),
    units: usage.units === undefined ? undefined : Math.min(usage.units, bound.units ?? 0),
  };
  for (const name of order) {
    const tokens = Math.min(cut[name], Math.max(excess, 0));
    cut[name] -= tokens;
    excess -= tokens;
  }
  return cut;
}

/** Tokens of speech that were sent to a model, and that it spoke. */
export interface Speech {
  readonly heard: number;
  readonly spoken: number;
}

/** Counts at least so many tokens as audio, as far as there are tokens of input and output. */
export function withSpeech(usage: Usage, { heard, spoken }: Speech): Usage {
  if (heard + spoken === 0) return usage;
  const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0 } = usage.audio ?? {};
  const audio = {
    inputTokens: Math.max(inputTokens, heard),
    cachedInputTokens,
    outputTokens: Math.max(outputTokens, spoken),
  };
  return fitModalities({ ...usage, audio });
}

/** Reduces the tokens of audio and images to those of the classes that contain them. */
export function fitModalities(usage: Usage): Usage {
  const audio = usage.audio && fitInto(usage.audio, usage);
  const rest = audio ? mapClasses((name) => usage[name] - audio[name]) : usage;
  const image = usage.image && fitInto(usage.image, rest);
  return { ...usage, ...(audio && { audio }), ...(image && { image }) };
}

function fitInto(tokens: ModalTokens, classes: ModalTokens): ModalTokens {
  return mapClasses((name) => Math.min(tokens[name], classes[name]));
}

function mapClasses(map: (name: keyof ModalTokens) => number): ModalTokens {
  return {
    inputTokens: map("inputTokens"),
    cachedInputTokens: map("cachedInputTokens"),
    outputTokens: map("outputTokens"),
  };
}
