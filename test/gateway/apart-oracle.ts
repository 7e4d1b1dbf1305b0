// What tools, audio and images must cost beside tokens of text, by arithmetic of its own.
import {
  type Beside,
  type Charged,
  ceilTo,
  decimal,
  type Fraction,
  type Prices,
  plus,
  type RouteKeys,
  type Scaled,
  times,
} from "./price-oracle.ts";

/** Prices of one modality in the file, in USD per million tokens. */
type Modal = Readonly<Partial<Record<"input" | "output" | "cached_input", string>>>;

/** The keys of a price that stand beside tokens of text. */
interface ApartKeys {
  readonly tools?: Readonly<Record<string, string>>;
  readonly audio_tokens?: Modal;
  readonly image_tokens?: Modal;
}

type Written = Prices & ApartKeys;
export type ApartRoute = Omit<RouteKeys, "price" | "cost"> & {
  readonly price?: Written | { readonly markup: string };
  readonly cost?: Written;
};

/** What an answer reports beside tokens of text. */
export interface Apart {
  readonly calls: Readonly<Record<string, number>>;
  readonly audio: Readonly<Record<"input" | "output" | "cached_input", number>>;
  readonly image: Readonly<Record<"input" | "output" | "cached_input", number>>;
}

/** The tokens of one modality, as a share of the classes that contain them, in percent. */
export function shareOf(tokens: Apart["audio"], percent: number): Apart["audio"] {
  const part = (count: number) => Math.floor((count * percent) / 100);
  return { input: part(tokens.input), cached_input: part(tokens.cached_input), output: part(tokens.output) };
}

/** Where a price is looked up: the first source that has it, each with a factor over it. */
type Source = readonly [written: Written, factor: string | undefined];

const CLASSES = ["input", "output", "cached_input"] as const;

/** Returns what is added to charge and cost, and whether the cost of every tool that is charged is known. */
export function besideTokens(keys: ApartRoute, charged: Charged, apart: Apart) {
  const sources = sourcesOfPrice(keys, charged);
  // Fees do not depend on the length of the input.
  const ofFees = sourcesOfPrice(keys, { ...charged, isLong: false });
  const ofCost: readonly Source[] = keys.cost ? [[keys.cost, undefined]] : [];
  const calls = Object.entries(apart.calls).filter(([name, count]) => count > 0 && feeOf(ofFees, name));
  const used = { ...apart, calls: Object.fromEntries(calls) };
  const beside: Beside = {
    ofPrice: (text) => plus(feesOf(ofFees, used), tokensOf(sources, text, used)),
    ofCost: (text) => plus(feesOf(ofCost, used), tokensOf(ofCost, text, used, sources)),
  };
  return { beside, isCostKnown: calls.every(([name]) => feeOf(ofCost, name) !== undefined) };
}

/** Whether the price of a route has a fee for a tool, whatever the length of the input. */
export function hasFee(keys: ApartRoute, charged: Charged, name: string): boolean {
  return feeOf(sourcesOfPrice(keys, { ...charged, isLong: false }), name) !== undefined;
}

/** Whether the price of a route has one for spoken output. */
export function speaks(keys: ApartRoute, charged: Charged): boolean {
  const sources = sourcesOfPrice(keys, { ...charged, isLong: false });
  return sources.find(([written]) => written.audio_tokens)?.[0].audio_tokens?.output !== undefined;
}

/** Returns the tools in the order of their fees, the dearest first. */
export function dearestFirst(
  keys: ApartRoute,
  charged: Charged,
  names: readonly string[],
): readonly string[] {
  const sources = sourcesOfPrice(keys, { ...charged, isLong: false });
  const of = (name: string) => feeOf(sources, name) ?? ([0n, 1n] as const);
  const isDearer = (one: string, other: string) => of(one)[0] * of(other)[1] > of(other)[0] * of(one)[1];
  return names.toSorted((one, other) => (isDearer(one, other) ? -1 : isDearer(other, one) ? 1 : 0));
}

function sourcesOfPrice(
  { price, cost, longPrice, longCost }: ApartRoute,
  { isLong, markup }: Charged,
): Source[] {
  const costs: Written | undefined = cost;
  const isWritten = price !== undefined && !("markup" in price);
  const factor = price && "markup" in price ? price.markup : undefined;
  const ofCost = (by: string | undefined): Source[] => (costs ? [[costs, by]] : []);
  const own: Source[] = isWritten ? [[price, undefined], ...ofCost(undefined)] : ofCost(factor);
  const ordinary: Source[] = markup !== undefined && costs ? [...ofCost(markup), ...own] : own;
  if (!isLong || !(longPrice ?? longCost)) return ordinary;
  if (markup !== undefined && longCost) return [...ofCost(markup), ...ordinary];
  if (longPrice) return own;
  return isWritten ? ordinary : ofCost(factor);
}

function feeOf(sources: readonly Source[], name: string): Fraction | undefined {
  const found = sources.find(([{ tools }]) => tools?.[name] !== undefined);
  const text = found?.[0].tools?.[name];
  return found && text !== undefined ? scale(decimal(text), found[1]) : undefined;
}

/** Multiplies a price by a factor, rounded up to 1e-12 USD. */
function scale(price: Fraction, factor: string | undefined): Fraction {
  return factor === undefined ? price : ceilTo(times(price, decimal(factor)), 10n ** 12n);
}

function feesOf(sources: readonly Source[], { calls }: Apart): Fraction {
  return Object.entries(calls).reduce(
    (sum: Fraction, [name, count]) => plus(sum, times(feeOf(sources, name) ?? [0n, 1n], [BigInt(count), 1n])),
    [0n, 1n],
  );
}

function tokensOf(sources: readonly Source[], text: Scaled, apart: Apart, chargedBy = sources): Fraction {
  let total: Fraction = [0n, 1n];
  for (const modality of ["audio", "image"] as const) {
    const key = `${modality}_tokens` as const;
    // Tokens are kept apart only where the price of the charge has them.
    if (!chargedBy.some(([written]) => written[key])) continue;
    const source = sources.find(([written]) => written[key]);
    if (!source) continue;
    for (const name of CLASSES) {
      const modal = source[0][key];
      const own = name === "cached_input" ? (modal?.cached_input ?? modal?.input) : modal?.[name];
      if (own === undefined) continue;
      const dearer = scale(times(decimal(own), [1n, 10n ** 6n]), source[1]);
      const [numerator, denominator] = text[name];
      const difference = plus(dearer, [-numerator, denominator]);
      total = plus(total, times(difference, [BigInt(apart[modality][name]), 1n]));
    }
  }
  return total;
}
