import { type PicosPerToken, printPrice } from "./money.ts";

/** The kinds of tokens that some models price apart from text. */
export const MODALITIES = ["audio", "image"] as const;

/**
 * Tokens of one modality. They are contained in the classes of the usage that they belong to, so that everything
 * but a price counts all tokens alike.
 */
export interface ModalTokens {
  /** Input that was not read from a cache. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
}

/** Prices per token of one modality. A class without one has the price of text. */
export interface ModalPrice {
  readonly input?: PicosPerToken | undefined;
  readonly cachedInput?: PicosPerToken | undefined;
  readonly output?: PicosPerToken | undefined;
}

/** The classes of tokens that a modality can have, with the class of the price. */
export const MODAL_CLASSES = [
  ["inputTokens", "input"],
  ["cachedInputTokens", "cachedInput"],
  ["outputTokens", "output"],
] as const satisfies readonly (readonly [keyof ModalTokens, keyof ModalPrice])[];

/** Prices of the classes that contain the tokens of modalities. */
type TextPrice = Readonly<Required<Record<keyof ModalPrice, PicosPerToken>>>;

/** What tokens of a modality cost beyond the same tokens of text; below zero where they are cheaper. */
export function modalDifference(tokens: ModalTokens, price: ModalPrice, text: TextPrice): bigint {
  let picos = 0n;
  for (const [tokensOf, priceOf] of MODAL_CLASSES) {
    const own = price[priceOf];
    if (own !== undefined) picos += BigInt(tokens[tokensOf]) * (own - text[priceOf]);
  }
  return picos;
}

/** Returns the tokens of a report; `undefined` where it has none. A number that is no count stays as it is. */
export function modalTokens(inputTokens: number, cachedInputTokens: number, outputTokens: number) {
  if (inputTokens === 0 && cachedInputTokens === 0 && outputTokens === 0) return undefined;
  return { inputTokens, cachedInputTokens, outputTokens };
}

/** Returns prices that are all replaced. */
export function mapModalPrice(
  price: ModalPrice,
  change: (picos: PicosPerToken) => PicosPerToken,
): ModalPrice {
  return {
    input: price.input === undefined ? undefined : change(price.input),
    cachedInput: price.cachedInput === undefined ? undefined : change(price.cachedInput),
    output: price.output === undefined ? undefined : change(price.output),
  };
}

/** Converts prices to JSON: decimal USD per million tokens, `null` for those of text. */
export function printModalPrice({ input, cachedInput, output }: ModalPrice) {
  const print = (price: PicosPerToken | undefined) => (price === undefined ? null : printPrice(price));
  return { input: print(input), output: print(output), cached_input: print(cachedInput) };
}
