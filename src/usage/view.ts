import { DAY_MS, HOUR_MS } from "../domain/id-time.ts";
import { readScopeFilter } from "../domain/scope.ts";
import { GatewayError } from "../errors.ts";
import type { ReceiptFilter } from "../ledger/records.ts";
import type { ScopeDimension, UsageDimension } from "../ledger/usage-records.ts";

const RANGE_MS = 30 * DAY_MS;
/** Up to this length the default is hours. */
const HOURLY_MS = 2 * DAY_MS;
/** Longer ranges are read by UTC days. */
const HOURS_RANGE_MAX_MS = 31 * DAY_MS;
const RANGE_MAX_MS = 400 * DAY_MS;

/** A dimension to group a view by. */
export type Group = "account" | "key" | "model" | "upstream" | "outcome" | ScopeDimension;

/** A view as its viewer asks for it, with times as ISO 8601. */
interface UsageQuery {
  readonly from?: string;
  readonly to?: string;
  readonly by?: "hour" | "day" | "none";
  readonly group?: Group | "none";
  readonly key?: string;
  readonly model?: string;
  readonly upstream?: string;
  readonly outcome?: string;
  /** What requests count for, such as "project:ID"; several have line feeds between them. */
  readonly scope?: string;
  /** The key of the tags that a view by tag groups by. */
  readonly tag_key?: string;
  readonly offset_h?: number;
}

/** A usage view as it was asked for: range and grouping. */
export interface UsageView {
  /** `undefined` sums up all accounts. */
  readonly accountId: string | undefined;
  /** Widened to whole buckets. */
  readonly range: Range;
  readonly by: "hour" | "day" | undefined;
  readonly group: Group | undefined;
  readonly tagKey: string | undefined;
  readonly filter: Pick<ReceiptFilter, "keyId" | "model" | "upstream" | "outcome" | "scopes">;
  /** Whole hours that the viewer's days are ahead of UTC; 0 where days are those of UTC. */
  readonly offsetHours: number;
}

export const DIMENSIONS = {
  account: "wallet",
  key: "key",
  model: "model",
  upstream: "upstream",
  outcome: "outcome",
  project: "project",
  member: "member",
  end_user: "end_user",
  tag: "tag",
  run: "run",
  parent_key: "parent_key",
} as const satisfies Record<Group, UsageDimension>;

/**
 * Reads a view from its query. Throws `wrong_shape` for a range above 400 days, for hours of a range above 31 days,
 * for a text that is no scope, and for a view by tag without the key of the tags.
 */
export function readView(accountId: string | undefined, query: UsageQuery, nowMs: number): UsageView {
  const asked = readRange(query, { nowMs, defaultMs: RANGE_MS });
  const by = readBy(query, asked);
  const { key: keyId, model, upstream, outcome, group = "none", tag_key: tagKey } = query;
  const scopes = query.scope === undefined ? undefined : readScopeFilter(query.scope);
  if (query.scope !== undefined && !scopes) throw new GatewayError("wrong_shape", { path: "scope" });
  if (group === "tag" && tagKey === undefined) throw new GatewayError("wrong_shape", { path: "tag_key" });
  const base = {
    accountId,
    by,
    group: group === "none" ? undefined : group,
    tagKey,
    filter: { keyId, model, upstream, outcome, scopes },
  };
  const offsetHours = accountId === undefined ? 0 : (query.offset_h ?? 0);
  const range = widen(asked, by, offsetHours);
  if (range.toMs - range.fromMs > RANGE_MAX_MS) throw new GatewayError("wrong_shape", { path: "from" });
  if (lengthOf(range) <= HOURS_RANGE_MAX_MS) return { ...base, range, offsetHours };
  if (by === "hour") throw new GatewayError("wrong_shape", { path: "by" });
  return { ...base, range: widen(asked, "day", 0), offsetHours: 0 };
}

/**
 * The view of the range of equal length before this one, without groups. A range that has not ended is compared
 * with as many whole hours of the one before, or UTC days where days are read.
 */
export function previousView(view: UsageView, nowMs: number): UsageView {
  const { fromMs, toMs } = view.range;
  const length = lengthOf(view.range);
  const bucketMs = bucketMsOf(isDaily(view) ? "day" : "hour");
  const nextMs = Math.ceil((nowMs + 1) / bucketMs) * bucketMs;
  const endMs = Math.min(toMs, Math.max(nextMs, fromMs + bucketMs));
  const range = { fromMs: Math.max(fromMs - length, 0), toMs: Math.max(endMs - length, 0) };
  return { ...view, range, by: undefined, group: undefined };
}

/** The starts of the view's time buckets in Unix milliseconds. */
export function bucketsOf({ range, by }: UsageView): readonly number[] {
  if (by === undefined) return [];
  const length = bucketMsOf(by);
  const count = Math.ceil(lengthOf(range) / length);
  return Array.from({ length: count }, (_, index) => range.fromMs + index * length);
}

export function bucketMsOf(by: "hour" | "day"): number {
  return by === "hour" ? HOUR_MS : DAY_MS;
}

/** Whether a range is read by UTC days. */
export function isDaily(view: UsageView): boolean {
  return lengthOf(view.range) > HOURS_RANGE_MAX_MS;
}

function readBy({ by }: UsageQuery, range: Range): UsageView["by"] {
  if (by === "none") return undefined;
  return by ?? (lengthOf(range) <= HOURLY_MS ? "hour" : "day");
}

function widen(range: Range, by: UsageView["by"], offsetHours: number): Range {
  if (by === undefined) return range;
  const length = bucketMsOf(by);
  const shift = offsetHours * HOUR_MS;
  const fromMs = Math.floor((range.fromMs + shift) / length) * length - shift;
  const toMs = Math.ceil((range.toMs + shift) / length) * length - shift;
  return { fromMs: Math.max(fromMs, 0), toMs };
}

function lengthOf({ fromMs, toMs }: Range): number {
  return toMs - fromMs;
}

/** A range of time in Unix milliseconds; `toMs` is exclusive. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The time in a UUIDv7, and so of every receipt, has 48 bits. */
const TIME_MS_MAX = 2 ** 48 - 1;

/** Parses a range; its end defaults to now, its start to `defaultMs` before its end. Throws `wrong_shape`. */
export function readRange(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  { nowMs, defaultMs }: { readonly nowMs: number; readonly defaultMs: number },
): Range {
  // Rounded up to the next minute, so that requests of this moment are inside.
  const toMs = readMs(to, "to") ?? Math.ceil((nowMs + 1) / 60_000) * 60_000;
  const fromMs = readMs(from, "from") ?? Math.max(toMs - defaultMs, 0);
  if (fromMs >= toMs) throw new GatewayError("wrong_shape", { path: "from" });
  return { fromMs, toMs };
}

/** Parses an ISO 8601 time. Throws `wrong_shape` with the name of the field. */
export function readMs(text: string | undefined, path: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = Date.parse(text);
  // Date.parse takes 30 February as a day of March.
  const isRolled = text.endsWith("Z") && ms >= 0 && ms <= TIME_MS_MAX && !sameDay(text, ms);
  if (isRolled || !Number.isInteger(ms) || ms < 0 || ms > TIME_MS_MAX)
    throw new GatewayError("wrong_shape", { path });
  return ms;
}

function sameDay(text: string, ms: number): boolean {
  return new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}
