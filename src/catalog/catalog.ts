import type { Model, ModelTraits, Price } from "../domain/model.ts";
import { parsePrice } from "../domain/money.ts";

/** The models that clients may name. */
export interface Catalog {
  find(id: string): Model | undefined;
  /** In the operator's order. */
  list(): readonly Model[];
}

export function createCatalog(models: readonly Model[]): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  return { find: (id) => byId.get(id), list: () => models };
}

/** Prices as an operator writes them: decimal USD per million tokens. */
export interface PriceTexts {
  readonly input: string;
  readonly output: string;
  /** Without it: as `input`. */
  readonly cached_input?: string | undefined;
  /** Without it: a quarter more than `input`, rounded up. */
  readonly cache_write?: string | undefined;
  /** Without it: twice `input`. */
  readonly cache_write_1h?: string | undefined;
}

/** Reads a price with its defaults. Throws RangeError when a text is no price. */
export function readPrice(texts: PriceTexts): Price {
  const input = parsePrice(texts.input);
  const parseOr = (text: string | undefined, fallback: bigint) =>
    text === undefined ? fallback : parsePrice(text);
  return {
    input,
    output: parsePrice(texts.output),
    cachedInput: parseOr(texts.cached_input, input),
    cacheWrite: parseOr(texts.cache_write, (input * 5n + 3n) / 4n),
    cacheWrite1h: parseOr(texts.cache_write_1h, input * 2n),
  };
}

/** What an operator may say of a route's model. */
export interface TraitEntry {
  readonly reasoning?: ModelTraits["reasoning"] | undefined;
  readonly sampling?: boolean | undefined;
}

/** Families whose traits are known, by the upstream's name for the model; the first that matches counts. */
const FAMILIES: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  [/claude-3[-.]7/, { reasoning: "budget", sampling: true }],
  // Up to 4.5; behind it may stand a date or a word, but no further number.
  [
    /claude-(opus|sonnet|haiku)-4([-.][0-5])?(?!\d)(?![-.]\d(?!\d{7}))/,
    { reasoning: "budget", sampling: true },
  ],
  [/claude-(instant|v?[1-3])/, { reasoning: "none", sampling: true }],
  [/claude-(opus|sonnet|haiku)-4[-.]6(?!\d)/, { reasoning: "adaptive", sampling: true }],
  [/claude/, { reasoning: "adaptive", sampling: false }],
  [/(^|\/)gpt-5[\w.]*-chat/, { reasoning: "none", sampling: true }],
  [/(^|\/)(o[1-9]|gpt-5)/, { reasoning: "effort", sampling: false }],
  [/gpt-oss/, { reasoning: "effort", sampling: true }],
];

const UNKNOWN: ModelTraits = { reasoning: "none", sampling: true };

/** A model's traits: as the operator says, else as its name tells. */
export function readTraits(upstreamModel: string, entry: TraitEntry): ModelTraits {
  const [, known] = FAMILIES.find(([name]) => name.test(upstreamModel)) ?? [undefined, UNKNOWN];
  return { reasoning: entry.reasoning ?? known.reasoning, sampling: entry.sampling ?? known.sampling };
}
