import type { TokenPrice } from "../../domain/model.ts";
import { formatExact, nanosToPicos, printPicos, printPrice } from "../../domain/money.ts";
import { NO_USAGE, type TokenUsage, type Usage } from "../../domain/usage.ts";
import type { ChargeSource, OutcomeFacts, Receipt } from "../../ledger/records.ts";
import type { ReceiptJson } from "./request-shapes.ts";

type Line = ReceiptJson["lines"][number];

/** A charge, line by line: the amounts of all lines and the rounding add up to it exactly. */
export type ChargeLines = Pick<ReceiptJson, "lines" | "rounding_usd">;

const CLASSES: readonly (readonly [name: string, tokens: keyof TokenUsage, price: keyof TokenPrice])[] = [
  ["input", "inputTokens", "input"],
  ["cached_input", "cachedInputTokens", "cachedInput"],
  ["cache_write", "cacheWriteTokens", "cacheWrite"],
  ["cache_write_1h", "cacheWrite1hTokens", "cacheWrite1h"],
  ["output", "outputTokens", "output"],
];

/** The gateway rounds up to the next nano-USD, once per request. */
const ROUNDING_PICOS_MAX = 999n;

/**
 * Splits the charge of a receipt into tokens or units × price per class. A charge that is not the sum of its tokens,
 * such as that of an expired hold or of an internal service, has a line `other` with the difference.
 */
export function linesOf({ captured, outcome }: Pick<Receipt, "captured" | "outcome">): ChargeLines {
  const counted = outcome ? countedOf(outcome) : [];
  const lines: Line[] = [];
  let left = nanosToPicos(captured);
  for (const { name, count, picos } of counted) {
    const amount = BigInt(count) * picos;
    left -= amount;
    const printed = { price_usd_per_million: printPrice(picos), amount_usd: printPicos(amount) };
    lines.push({ class: name, tokens: count, ...printed });
  }
  const isRounding = left >= 0n && left <= ROUNDING_PICOS_MAX;
  if (isRounding) return { lines, rounding_usd: printPicos(left) };
  const other = {
    class: "other",
    tokens: 0,
    price_usd_per_million: printPrice(0n),
    amount_usd: printPicos(left),
  };
  return { lines: [...lines, other], rounding_usd: printPicos(0n) };
}

/** Everything that a request was charged for: tokens by class, or units. */
function countedOf({ usage = NO_USAGE, price }: OutcomeFacts) {
  if (!price) return [];
  const tokens = CLASSES.map(([name, tokensOf, priceOf]) => ({
    name,
    count: usage[tokensOf],
    picos: price[priceOf],
  }));
  const { unit } = price;
  const { units }: Usage = usage;
  const all = unit && units !== undefined ? [...tokens, { ...unit, count: units }] : tokens;
  return all.filter(({ count }) => count > 0);
}

const SOURCES: Readonly<Record<ChargeSource, string>> = {
  reported: "The provider reported these tokens with its answer.",
  estimated: "The provider reported no usable tokens: prompt and answer were counted here.",
  expired:
    "The gateway stopped before it could settle: the cost at the last sign of life of the request was charged.",
  none: "Nothing was charged: the hold was released in full.",
};

/** Of charges by unit. */
const UNIT_SOURCES: Readonly<Partial<Record<ChargeSource, string>>> = {
  reported: "The provider reported this number with its answer.",
  estimated: "The provider reported no usable number: it was taken from the request and the answer.",
};

/** Why nothing was charged. */
const FREE_SOURCES: Readonly<Record<ChargeSource, string>> = {
  reported: `${SOURCES.reported} They cost nothing.`,
  estimated: `${SOURCES.estimated} They cost nothing.`,
  expired:
    "The gateway stopped before it could settle, and before any cost was recorded: nothing was charged.",
  none: SOURCES.none,
};

type ChargedReceipt = Pick<Receipt, "state" | "late" | "captured" | "outcome" | "refunded">;

/** Where the charge comes from, in a sentence. */
export function sourceText({ state, late, captured, outcome, refunded }: ChargedReceipt): string {
  const refund = refunded > 0n ? ` Later ${formatExact(refunded)} were refunded.` : "";
  if (!outcome) return "The request is running: its hold is open and nothing is charged yet.";
  const isLate = late && state === "settled" && outcome.source !== "expired";
  const lateness = isLate ? " The settlement came after the hold had expired." : "";
  const ofUnit = outcome.price?.unit && UNIT_SOURCES[outcome.source];
  const source = ofUnit ?? (captured === 0n ? FREE_SOURCES[outcome.source] : SOURCES[outcome.source]);
  return `${source}${lateness}${refund}`;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  ok: "The answer was complete.",
  client_closed: "The client disconnected before the answer was complete.",
  empty_completion: "The model finished without readable output.",
  upstream_unavailable: "No upstream of this model gave a usable answer.",
  upstream_timeout: "The model ran out of time.",
  invalid_request: "The model's provider rejected the request.",
  invalid_api_key: "The key was revoked while the request ran.",
  forbidden: "The account was suspended while the request ran.",
  internal_error: "The gateway failed or stopped while the request ran.",
};

/** How the request ended, in a sentence. */
export function outcomeText({ outcome }: Pick<Receipt, "outcome">): string {
  if (!outcome) return "The request is still running.";
  return OUTCOMES[outcome.outcome] ?? `The request ended with ${outcome.outcome}.`;
}
