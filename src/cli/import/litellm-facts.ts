import type { KnownModel } from "../../catalog/known-models.ts";
import { numberOf, type Row } from "./table.ts";

/** Decimal USD per million tokens, as the configuration has them. */
export interface PricePart {
  readonly input: string;
  readonly output: string;
  readonly cached_input?: string;
  readonly cache_write?: string;
  readonly cache_write_1h?: string;
}

/** What a model costs and can take. */
export interface Facts {
  /** Id of the known model that has these facts. */
  readonly known?: string;
  readonly context_window: number;
  readonly max_output_tokens: number;
  readonly price: PricePart;
}

/** Whether one of the sources states a price. */
export function hasPrice(sources: readonly Row[]): boolean {
  return sources.some(({ input_cost_per_token: cost }) => cost !== undefined && cost !== null);
}

/** Reads the facts of a known model, as the configuration fills them in. */
export function readKnownFacts(known: KnownModel | undefined): Facts | undefined {
  const { mode, cost, context_window: window, max_output_tokens: output = 0 } = known ?? {};
  if (!known || !cost || !window || (mode !== "chat" && mode !== "embedding")) return undefined;
  return { known: known.id, context_window: window, max_output_tokens: output, price: cost };
}

/** Returns the limits of a known model as a source, for an entry that has a price of its own and no limits. */
export function limitsOf(known: KnownModel | undefined): Row {
  if (!known) return {};
  const { context_window, max_output_tokens, mode } = known;
  return { max_input_tokens: context_window, max_output_tokens, mode };
}

/** Finds the row of the price table by the whole name, then by the provider's. */
export function findPrices(knownPrices: Row, target: string, model: string): Row {
  return [target, model].map((name) => knownPrices[name]).find(isRow) ?? {};
}

/** Reads prices and token limits from the first source that has each. Returns what is missing as text. */
export function readFacts(sources: readonly Row[]): Facts | string {
  const find = (...names: readonly string[]) =>
    names.map((name) => sources.map((source) => numberOf(source[name])).find(isAmount)).find(isAmount);
  const [input, output] = [
    find("input_cost_per_token"),
    find("output_cost_per_token") ?? find("input_cost_per_token"),
  ];
  if (input === undefined || output === undefined) return "has no price: input_cost_per_token is missing";
  const cached = find("cache_read_input_token_cost");
  const write = find("cache_creation_input_token_cost");
  const window = find("max_input_tokens", "max_tokens");
  const isEmbedding = sources.some(({ mode }) => mode === "embedding");
  const outputTokens = isEmbedding ? 0 : find("max_output_tokens", "max_tokens");
  if (!window || outputTokens === undefined)
    return "has no token limits: max_input_tokens or max_output_tokens is missing";
  return {
    context_window: Math.max(window, outputTokens),
    max_output_tokens: outputTokens,
    price: {
      input: printPrice(input),
      output: printPrice(output),
      ...(cached === undefined ? {} : { cached_input: printPrice(cached) }),
      ...(write === undefined ? {} : { cache_write: printPrice(write) }),
    },
  };
}

function isAmount(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value >= 0;
}

/** Converts USD per token to USD per million tokens, rounded to the six decimals of a price. */
function printPrice(usdPerToken: number): string {
  return (usdPerToken * 1e6).toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1");
}

/** Whether a value is a mapping. */
export function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
