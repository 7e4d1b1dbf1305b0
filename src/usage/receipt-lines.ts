import { itemsOf, type PricedItem } from "../domain/items.ts";
import { MODALITIES } from "../domain/modalities.ts";
import type { TokenPrice } from "../domain/model.ts";
import { formatExact, type Nanos, nanosToPicos, type PicosPerToken } from "../domain/money.ts";
import { NO_USAGE, type TokenUsage, type Usage } from "../domain/usage.ts";
import type { ChargeSource, OutcomeFacts, Receipt } from "../ledger/records.ts";

/** Tokens of a class, or units, at their price. */
interface ChargeLine {
  readonly name: string;
  readonly count: number;
  readonly price: PicosPerToken;
  /** In pico-USD. */
  readonly amount: bigint;
}

/** A charge, line by line: the amounts of all lines and the rounding add up to it exactly. */
interface Charge {
  readonly lines: readonly ChargeLine[];
  /** In pico-USD. */
  readonly rounding: bigint;
}

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
export function linesOf({ captured, outcome }: Pick<Receipt, "captured" | "outcome">): Charge {
  const lines = outcome ? countedOf(outcome) : [];
  const left = lines.reduce((rest, { amount }) => rest - amount, nanosToPicos(captured));
  const isRounding = left >= 0n && left <= ROUNDING_PICOS_MAX;
  if (isRounding) return { lines, rounding: left };
  return { lines: [...lines, { name: "other", count: 0, price: 0n, amount: left }], rounding: 0n };
}

/** Everything that a request was charged for: tokens by class, calls of tools, or units. */
function countedOf({ usage = NO_USAGE, price }: OutcomeFacts): readonly ChargeLine[] {
  if (!price) return [];
  const { unit } = price;
  const { units }: Usage = usage;
  const apart = itemsOf(price, usage);
  const tokens = CLASSES.map(([name, tokensOf, priceOf]) =>
    lineOf(name, usage[tokensOf] - countApart(apart, name), price[priceOf]),
  );
  const items = apart.map(({ name, count, picos }) => lineOf(name, count, picos));
  const ofUnits = unit && units !== undefined ? [lineOf(unit.name, units, unit.picos)] : [];
  const all = [...tokens, ...items, ...ofUnits];
  return all.filter(({ count }) => count > 0);
}

/** Tokens of a class that have a price of their own. */
function countApart(items: readonly PricedItem[], name: string): number {
  const own = MODALITIES.map((modality) => `${modality}.${name}`);
  return items.reduce((sum, item) => (own.includes(item.name) ? sum + item.count : sum), 0);
}

function lineOf(name: string, count: number, price: PicosPerToken): ChargeLine {
  return { name, count, price, amount: BigInt(count) * price };
}

/** Where the charge comes from. An estimate has a sentence for each reason instead. */
const SOURCES: Readonly<Record<Exclude<ChargeSource, "estimated">, string>> = {
  reported: "The provider reported these tokens with its answer.",
  expired:
    "The gateway stopped before it could settle: the cost at the last sign of life of the request was charged.",
  none: "Nothing was charged: the hold was released in full.",
};

/** Why a report was not charged as it was. */
const REPORTS: Readonly<Record<string, string>> = {
  above_bound: "The provider reported more than this request allowed: the charge was bounded by its limit.",
  uncountable:
    "The provider left out a number, or sent one that cannot be counted: the gateway counted instead.",
  missing: "The provider reported no tokens: the gateway counted prompt and answer.",
  tier: "The gateway counted, at the price of the service tier that the request asked for.",
};
const TIER_REPORT =
  "The provider reported these tokens, and a service tier that was not asked for: that of the request was charged.";
const UNIT_REPORTS: typeof REPORTS = {
  ...REPORTS,
  uncountable: "The provider reported a number that cannot be counted: it was taken from request and answer.",
  missing: "The provider reported no number: it was taken from request and answer.",
};

/** Of answers that came to no end, whatever was reported of their beginning. */
const ENDS: Readonly<Record<string, string>> = {
  client_closed:
    "The client left before the provider's last report: the prompt and the output so far were charged.",
  empty_completion: "The answer was empty: the input was charged, as far as the provider reported it.",
};
const BROKEN_OFF =
  "The answer broke off before the provider's last report: the prompt and the output so far were charged.";
/** Of receipts that name no reason. */
const COUNTED = "No report could be charged as it was: the gateway counted, within the limit of the request.";

const NOTHING_RECORDED =
  "The gateway stopped before it could settle, and before any cost was recorded: nothing was charged.";

type ChargedReceipt = Pick<Receipt, "state" | "late" | "captured" | "outcome" | "refunded">;

/** Where the charge comes from, in a sentence. */
export function sourceText({ state, late, captured, outcome, refunded }: ChargedReceipt): string {
  const refund = refunded > 0n ? ` Later ${formatExact(refunded)} were refunded.` : "";
  if (!outcome) return "The request is running: its hold is open and nothing is charged yet.";
  const isLate = late && state === "settled" && outcome.source !== "expired";
  const lateness = isLate ? " The settlement came after the hold had expired." : "";
  return `${describeSource(outcome, captured)}${lateness}${refund}`;
}

function describeSource(outcome: OutcomeFacts, captured: Nanos): string {
  const { source } = outcome;
  if (source === "none") return SOURCES.none;
  if (source === "expired") return captured === 0n ? NOTHING_RECORDED : SOURCES.expired;
  const text = source === "estimated" ? describeEstimate(outcome) : describeReport(outcome);
  return captured === 0n ? `${text} They cost nothing.` : text;
}

function describeReport({ price, attempts }: OutcomeFacts): string {
  if (attempts.at(-1)?.report === "tier") return TIER_REPORT;
  return price?.unit ? "The provider reported this number with its answer." : SOURCES.reported;
}

function describeEstimate({ outcome, price, attempts }: OutcomeFacts): string {
  const report = attempts.at(-1)?.report ?? "";
  const reports = price?.unit ? UNIT_REPORTS : REPORTS;
  // A report above its bound decides the charge, whatever else happened; else an early end does.
  if (report !== "above_bound" && outcome !== "ok") return ENDS[outcome] ?? BROKEN_OFF;
  return reports[report] ?? COUNTED;
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
