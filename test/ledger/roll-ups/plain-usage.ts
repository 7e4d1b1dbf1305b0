import type { Scope } from "../../../src/domain/scope.ts";
import { type LedgerReads, type Receipt, readToEnd, type UsageQuery } from "../../../src/ledger/records.ts";
import {
  HISTOGRAM_BOUNDS_MS,
  type UsageDimension,
  type UsageRow,
} from "../../../src/ledger/usage-records.ts";

const HOUR_MS = 3_600_000;

/** Reads every receipt of a wallet. */
export function readAll(reads: LedgerReads, walletId: string | undefined): Promise<readonly Receipt[]> {
  return readToEnd((token) => reads.receipts({ walletId }, { size: 1_000, token }));
}

/** Sums receipts one by one, as a usage query must. Sorted by the groups' values, null first. */
export function plainUsage(receipts: readonly Receipt[], query: UsageQuery): readonly UsageRow[] {
  const groups = new Map<string, Receipt[]>();
  if (query.groupBy.length === 0) groups.set("[]", []);
  for (const receipt of receipts.filter((each) => matches(each, query))) {
    const key = JSON.stringify(query.groupBy.map((each) => groupOf(receipt, each, query)));
    const group = groups.get(key);
    if (group) group.push(receipt);
    else groups.set(key, [receipt]);
  }
  const rows = [...groups].map(([key, group]) => sumOf(JSON.parse(key), query.groupBy, group));
  rows.sort((one, other) => compare(one, other, query.groupBy));
  if (query.dearestMax === undefined) return rows;
  return rows
    .sort((one, other) => (costOf(one) < costOf(other) ? 1 : costOf(one) > costOf(other) ? -1 : 0))
    .slice(0, query.dearestMax);
}

function costOf({ captured, refunded }: UsageRow): bigint {
  return captured - refunded;
}

function matches(receipt: Receipt, query: UsageQuery): boolean {
  const {
    fromMs = 0,
    toMs = Number.POSITIVE_INFINITY,
    walletId,
    keyId,
    model,
    upstream,
    outcome,
    state,
    scopes = [],
    among,
    groupBy,
  } = query;
  const atMs = timeOf(receipt.holdId);
  const conditions: readonly (readonly [string | undefined, string | undefined])[] = [
    [walletId, receipt.walletId],
    [keyId, receipt.keyId],
    [model, receipt.request.model],
    [upstream, receipt.outcome?.upstream],
    [outcome, receipt.outcome?.outcome],
    [state, receipt.state],
  ];
  const last = groupBy.at(-1);
  const isAmong = !among || !last || among.includes(String(groupOf(receipt, last, query)));
  return (
    isAmong &&
    scopes.every((scope) => countsFor(receipt, scope)) &&
    atMs >= fromMs &&
    atMs < toMs &&
    conditions.every(([wanted, is]) => wanted === undefined || wanted === is)
  );
}

/** A receipt counts for its first project only, and for every other scope that it has. */
function countsFor(receipt: Receipt, { kind, id }: Scope): boolean {
  if (kind === "project") return groupOf(receipt, "project", {}) === id;
  return receipt.scopes.some((scope) => scope.kind === kind && scope.id === id);
}

function timeOf(holdId: string): number {
  return Number.parseInt(holdId.replace("-", "").slice(0, 12), 16);
}

function groupOf(
  receipt: Receipt,
  dimension: UsageDimension,
  { offsetHours = 0, tagKey }: Pick<UsageQuery, "offsetHours" | "tagKey">,
): string | number | null {
  const scopeOf = (kind: string) => receipt.scopes.find((scope) => scope.kind === kind)?.id;
  const atMs = timeOf(receipt.holdId);
  const shiftMs = offsetHours * HOUR_MS;
  const values: Readonly<Record<UsageDimension, string | number | undefined>> = {
    hour: atMs - (atMs % HOUR_MS),
    day: atMs + shiftMs - ((atMs + shiftMs) % (24 * HOUR_MS)) - shiftMs,
    wallet: receipt.walletId,
    key: receipt.keyId,
    surface: receipt.request.surface,
    model: receipt.request.model,
    upstream: receipt.outcome?.upstream,
    outcome: receipt.outcome?.outcome,
    source: receipt.outcome?.source,
    project: scopeOf("project") ?? receipt.walletId,
    member: scopeOf("member"),
    end_user: scopeOf("end_user"),
    tag: tagOf(receipt, tagKey),
    run: scopeOf("run"),
    parent_key: scopeOf("parent_key"),
  };
  return values[dimension] ?? null;
}

function tagOf({ scopes }: Receipt, tagKey: string | undefined): string | undefined {
  const prefix = `${tagKey}=`;
  return scopes.find(({ kind, id }) => kind === "tag" && id.startsWith(prefix))?.id.slice(prefix.length);
}

function sumOf(
  values: readonly (string | number | null)[],
  groupBy: readonly UsageDimension[],
  receipts: readonly Receipt[],
): UsageRow {
  const count = (state: Receipt["state"]) => receipts.filter((each) => each.state === state).length;
  const tokens = (name: keyof UsageRow["usage"]) =>
    receipts.reduce((sum, { outcome }) => sum + (outcome?.usage?.[name] ?? 0), 0);
  const costed = receipts.filter(({ outcome }) => outcome?.upstreamCost !== undefined);
  return {
    group: Object.fromEntries(groupBy.map((dimension, index) => [dimension, values[index] ?? null])),
    requests: receipts.length,
    open: count("held"),
    ok: receipts.filter(({ outcome }) => outcome?.outcome === "ok").length,
    settled: count("settled"),
    released: count("released"),
    expired: count("expired"),
    captured: receipts.reduce((sum, { captured }) => sum + captured, 0n),
    refunded: receipts.reduce((sum, { refunded }) => sum + refunded, 0n),
    upstreamCost: costed.reduce((sum, { outcome }) => sum + (outcome?.upstreamCost ?? 0n), 0n),
    costed: costed.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n),
    usage: {
      inputTokens: tokens("inputTokens"),
      cachedInputTokens: tokens("cachedInputTokens"),
      cacheWriteTokens: tokens("cacheWriteTokens"),
      cacheWrite1hTokens: tokens("cacheWrite1hTokens"),
      outputTokens: tokens("outputTokens"),
    },
    firstOutputMs: histogramOf(receipts.map(({ outcome }) => outcome?.firstOutputMs)),
    totalMs: histogramOf(receipts.map(({ outcome }) => outcome?.totalMs)),
  };
}

function histogramOf(durations: readonly (number | undefined)[]): readonly number[] {
  const bounds = [...HISTOGRAM_BOUNDS_MS, Number.POSITIVE_INFINITY];
  const buckets = durations.map((ms) => (ms === undefined ? -1 : bounds.findIndex((bound) => ms <= bound)));
  return bounds.map((_, bucket) => buckets.filter((each) => each === bucket).length);
}

function compare(one: UsageRow, other: UsageRow, groupBy: readonly UsageDimension[]): number {
  for (const dimension of groupBy) {
    const [left = null, right = null] = [one.group[dimension], other.group[dimension]];
    if (left === right) continue;
    if (left === null || right === null) return left === null ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return 0;
}
