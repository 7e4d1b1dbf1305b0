import type { Model, ModelTraits, Price } from "../domain/model.ts";
import { parsePrice } from "../domain/money.ts";

/** The models that clients can request. */
export interface Catalog {
  find(id: string): Model | undefined;
  /** Returns the models in the order of the configuration. */
  list(): readonly Model[];
}

export function createCatalog(models: readonly Model[]): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]));
  return { find: (id) => byId.get(id), list: () => models };
}

/** Prices in the configuration: decimal USD per million tokens. */
export interface PriceTexts {
  readonly input: string;
  readonly output: string;
  /** Default: `input`. */
  readonly cached_input?: string | undefined;
  /** Default: 1.25 times `input`, rounded up. */
  readonly cache_write?: string | undefined;
  /** Default: twice `input`. */
  readonly cache_write_1h?: string | undefined;
}

/** Parses a price and applies the defaults. Throws RangeError for an invalid price. */
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

/** The traits of a route in the configuration. */
export interface TraitEntry {
  readonly reasoning?: ModelTraits["reasoning"] | undefined;
  readonly sampling?: boolean | undefined;
}

/** Known traits by the upstream's name of the model. The first match counts. */
const FAMILIES: readonly (readonly [name: RegExp, traits: ModelTraits])[] = [
  [/claude-3[-.]7/, { reasoning: "budget", sampling: true }],
  // Up to 4.5. A date or a word may follow, but no further version number.
  [
    /claude-(opus|sonnet|haiku)-4([-.][0-5])?(?!\d)(?![-.]\d(?!\d{7}))/,
    { reasoning: "budget", sampling: true },
  ],
  [/claude-(instant|v?[1-3])/, { reasoning: "none", sampling: true }],
  [/claude-(opus|sonnet|haiku)-4[-.]6(?!\d)/, { reasoning: "adaptive", sampling: true }],
  [/claude/, { reasoning: "adaptive", sampling: false }],
  [/(^|\/)gpt-5[\w.]*-chat/, { reasoning: "none", sampling: true }],
  [/(^|\/)(o[1-9]|gpt-5)/, { reasoning: "effort", sampling: false }],
  // Their thinking is configured by an effort at Google too; images, speech and embeddings have none.
  [
    /gemini-(2[.]5|[3-9][\d.]*)-(pro|flash)(?!.*-(image|tts|audio|live))/,
    { reasoning: "effort", sampling: true },
  ],
  [/gpt-oss/, { reasoning: "effort", sampling: true }],
];

const UNKNOWN: ModelTraits = { reasoning: "none", sampling: true };

/** Returns the traits of a model: those of the configuration, else those known by its name. */
export function readTraits(upstreamModel: string, entry: TraitEntry): ModelTraits {
  const [, known] = FAMILIES.find(([name]) => name.test(upstreamModel)) ?? [undefined, UNKNOWN];
  return { reasoning: entry.reasoning ?? known.reasoning, sampling: entry.sampling ?? known.sampling };
}
