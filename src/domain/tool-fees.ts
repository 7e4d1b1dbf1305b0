import { mostOf, type PicosPerToken, printPicos } from "./money.ts";

/**
 * Fees of tools that run at the provider, in pico-USD per call, by the tool's name: `web_search`, `file_search`. A
 * fee of 0 makes a tool free; a tool without a fee is refused.
 */
export type ToolFees = Readonly<Record<string, PicosPerToken>>;

/** How often tools ran for one answer, by their names. */
export type ToolCalls = Readonly<Record<string, number>>;

/** The fee of every answer of a model that searches by itself. No tool of a provider has this name. */
export const REQUEST_FEE = "request";
/** The names of tools in the configuration and on receipts. */
export const TOOL_NAME_PATTERN = "^[a-z][a-z0-9_:-]{0,63}$";
/** The most calls of one tool that a request may allow. */
export const TOOL_CALLS_MAX = 1_000;
/** The calls that are allowed, and sent as the bound, where neither request nor model sets another number. */
export const TOOL_CALLS_DEFAULT = 10;

/** A tool that a request allows its provider to run. Plain data that can be sent between threads. */
export interface ToolDemand {
  readonly name: string;
  /** The field that asks for it, which a refusal names. */
  readonly path: string;
  /** The most calls that the request allows; `undefined` leaves the bound to the gateway. */
  readonly callsMax?: number | undefined;
  /** Whether every answer has exactly `callsMax` calls, which no answer reports. */
  readonly isFixed?: true | undefined;
  /** Whether providers do not charge for it, so that it needs no fee. */
  readonly isFree?: true | undefined;
  /** A fee that covers it as well, and is charged instead. */
  readonly coveredBy?: string | undefined;
  /** Whether clients offer it by default, so that it is not sent to a provider where it has no fee. */
  readonly isOptional?: true | undefined;
}

/** The tools of a request. */
export interface ToolDemands {
  readonly tools: readonly ToolDemand[];
  /** Set in formats with one bound for the calls of all tools together. */
  readonly shared?: { readonly callsMax: number | undefined } | undefined;
  /** Whether no other tool of the request runs at the provider. */
  readonly areAll?: true | undefined;
}

/** What a price lacks of the tools of a request. */
export interface LackingFees {
  /** The path of the first tool that the client would miss. */
  readonly path: string | undefined;
  /** The names of the others, which are not sent. */
  readonly dropped: readonly string[];
}

/** The most calls that one answer may be charged for. */
export interface CallBound {
  readonly calls: ToolCalls;
  /** The most calls of all tools together that do not run in every answer. */
  readonly together?: number | undefined;
  /** The calls of every answer, which count whatever is reported. */
  readonly fixed?: ToolCalls | undefined;
}

/** Returns the tools that a price has no fee for; `undefined` when each has one or is free. */
export function findLackingFees({ tools }: ToolDemands, fees: ToolFees | undefined): LackingFees | undefined {
  const isPriced = (name: string) => feeOf(fees, name) !== undefined;
  const lacking = tools.filter(
    ({ name, isFree, coveredBy = name }) => !isFree && !isPriced(name) && !isPriced(coveredBy),
  );
  if (lacking.length === 0) return undefined;
  return {
    path: lacking.find(({ isOptional }) => !isOptional)?.path,
    dropped: lacking.filter(({ isOptional }) => isOptional).map(({ name }) => name),
  };
}

/** Bounds the calls that have a fee. A tool without one is free and not counted. */
export function boundCalls(
  demands: ToolDemands | undefined,
  fees: ToolFees,
  { callsDefault, answers }: { readonly callsDefault: number; readonly answers: number },
): CallBound {
  const calls: Record<string, number> = {};
  const fixed: Record<string, number> = {};
  if (fees[REQUEST_FEE] !== undefined) fixed[REQUEST_FEE] = answers;
  const shared = demands?.shared;
  for (const { name, callsMax, isFixed } of demands?.tools ?? []) {
    if (feeOf(fees, name) === undefined) continue;
    const counted = isFixed ? fixed : calls;
    const most = shared ? (shared.callsMax ?? callsDefault) : (callsMax ?? callsDefault);
    counted[name] = shared ? most : (counted[name] ?? 0) + most;
  }
  const together = shared && Object.keys(calls).length > 0 ? (shared.callsMax ?? callsDefault) : undefined;
  return { calls, together, fixed: Object.keys(fixed).length > 0 ? fixed : undefined };
}

/** The most that calls within a bound cost. */
export function dearestCalls({ calls, together, fixed }: CallBound, fees: ToolFees): bigint {
  const always = feesOf(fixed, fees);
  if (together === undefined) return always + feesOf(calls, fees);
  const dearest = Object.keys(calls).reduce((most, name) => mostOf(most, fees[name] ?? 0n), 0n);
  return always + BigInt(together) * dearest;
}

/** The fees of calls. A name without a fee costs nothing. */
export function feesOf(calls: ToolCalls | undefined, fees: ToolFees): bigint {
  let sum = 0n;
  for (const [name, count] of Object.entries(calls ?? {})) sum += BigInt(count) * (feeOf(fees, name) ?? 0n);
  return sum;
}

/** Whether a price has a fee for each of these calls. */
export function hasFees(calls: ToolCalls, fees: ToolFees | undefined): boolean {
  return Object.keys(calls).every((name) => feeOf(fees, name) !== undefined);
}

/** Whether reported calls stay within a bound. Calls of tools without a fee are not counted. */
export function areWithin(reported: ToolCalls, bound: CallBound, fees: ToolFees): boolean {
  let sum = 0;
  for (const [name, count] of Object.entries(reported)) {
    if (feeOf(fees, name) === undefined) continue;
    if (count > (bound.calls[name] ?? 0)) return false;
    sum += count;
  }
  return bound.together === undefined || sum <= bound.together;
}

/**
 * Returns the calls that are charged: those that have a fee, at most the bound, and those of every answer. Where
 * all tools have one bound, the dearest calls are kept. `undefined` for none.
 */
export function chargedCalls(
  reported: ToolCalls | undefined,
  bound: CallBound,
  fees: ToolFees,
): ToolCalls | undefined {
  const charged: Record<string, number> = { ...bound.fixed };
  let left = bound.together ?? Number.MAX_SAFE_INTEGER;
  const dearestFirst = Object.keys(bound.calls).toSorted((one, other) =>
    Number((fees[other] ?? 0n) - (fees[one] ?? 0n)),
  );
  for (const name of dearestFirst) {
    const count = Math.min(reported?.[name] ?? 0, bound.calls[name] ?? 0, left);
    left -= count;
    if (count > 0) charged[name] = (charged[name] ?? 0) + count;
  }
  return Object.keys(charged).length > 0 ? charged : undefined;
}

/** Converts fees to JSON: exact USD per call, by tool. */
export function printToolFees(fees: ToolFees): Record<string, string> {
  return Object.fromEntries(Object.entries(fees).map(([name, picos]) => [name, printPicos(picos)]));
}

/** Returns fees that are all replaced. */
export function mapToolFees(fees: ToolFees, change: (picos: PicosPerToken) => PicosPerToken): ToolFees {
  return Object.fromEntries(Object.entries(fees).map(([name, picos]) => [name, change(picos)]));
}

/** A name comes from a request, so that it may be that of a member of every object. */
function feeOf(fees: ToolFees | undefined, name: string): PicosPerToken | undefined {
  return fees && Object.hasOwn(fees, name) ? fees[name] : undefined;
}
