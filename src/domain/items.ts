import { MODAL_CLASSES, MODALITIES, type ModalPrice, type ModalTokens } from "./modalities.ts";
import type { PicosPerToken } from "./money.ts";
import type { ToolCalls, ToolFees } from "./tool-fees.ts";

/**
 * What a receipt charges beside tokens at the prices of text: calls of a tool by its name, or tokens of a modality
 * as `audio.input`. The tokens are contained in the usage, whose price of text is then not charged for them.
 */
export interface PricedItem {
  readonly name: string;
  readonly count: number;
  /** Pico-USD of one. */
  readonly picos: PicosPerToken;
}

/** The most items of a receipt. */
export const ITEMS_MAX = 64;

interface ItemPrices {
  readonly tools?: ToolFees | undefined;
  readonly audio?: ModalPrice | undefined;
  readonly image?: ModalPrice | undefined;
}

interface ItemCounts {
  readonly calls?: ToolCalls | undefined;
  readonly audio?: ModalTokens | undefined;
  readonly image?: ModalTokens | undefined;
}

const NONE: readonly PricedItem[] = [];

/** Returns the items of a usage at a price, in a fixed order; none for tokens of text alone. */
export function itemsOf(price: ItemPrices, usage: ItemCounts): readonly PricedItem[] {
  if (!usage.calls && !usage.audio && !usage.image) return NONE;
  const tools = Object.entries(usage.calls ?? {}).map(([name, count]) => {
    return { name, count, picos: price.tools?.[name] ?? 0n };
  });
  const tokens = MODALITIES.flatMap((modality) =>
    MODAL_CLASSES.flatMap(([tokensOf, priceOf]) => {
      const [count, picos] = [usage[modality]?.[tokensOf] ?? 0, price[modality]?.[priceOf]];
      return count > 0 && picos !== undefined ? [{ name: nameOf(modality, priceOf), count, picos }] : [];
    }),
  );
  return [...tools, ...tokens];
}

/** The reverse of {@link itemsOf}: the parts of a price and a usage that the items were made of. */
export function readItems(items: readonly PricedItem[]): {
  readonly price: ItemPrices;
  readonly usage: ItemCounts;
} {
  if (items.length === 0) return { price: {}, usage: {} };
  const tools = items.filter(({ name }) => !name.includes("."));
  const parts = {
    price:
      tools.length > 0 ? { tools: Object.fromEntries(tools.map(({ name, picos }) => [name, picos])) } : {},
    usage:
      tools.length > 0 ? { calls: Object.fromEntries(tools.map(({ name, count }) => [name, count])) } : {},
  };
  return MODALITIES.reduce((read, modality) => {
    const found = readModality(items, modality);
    if (!found) return read;
    return {
      price: { ...read.price, [modality]: found.price },
      usage: { ...read.usage, [modality]: found.tokens },
    };
  }, parts);
}

function readModality(items: readonly PricedItem[], modality: (typeof MODALITIES)[number]) {
  const price: Record<string, PicosPerToken> = {};
  const tokens = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
  for (const [tokensOf, priceOf] of MODAL_CLASSES) {
    const item = items.find(({ name }) => name === nameOf(modality, priceOf));
    if (!item) continue;
    tokens[tokensOf] = item.count;
    price[priceOf] = item.picos;
  }
  return Object.keys(price).length > 0 ? { price, tokens } : undefined;
}

const CLASS_NAMES = { input: "input", cachedInput: "cached_input", output: "output" } as const;

function nameOf(modality: string, priceOf: keyof ModalPrice): string {
  return `${modality}.${CLASS_NAMES[priceOf]}`;
}

/** Prints items as a JSON array of `[name, count, picos]`, with the price as text, which no number rounds. */
export function printItems(items: readonly PricedItem[]): string {
  return JSON.stringify(items.map(({ name, count, picos }) => [name, count, String(picos)]));
}

/** The reverse of {@link printItems}. */
export function parseItems(text: string): readonly PricedItem[] {
  // Safe because the text was printed here.
  const items = JSON.parse(text) as readonly (readonly [string, number, string])[];
  return items.map(([name, count, picos]) => ({ name, count, picos: BigInt(picos) }));
}
