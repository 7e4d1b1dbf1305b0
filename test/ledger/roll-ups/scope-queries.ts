import { expect } from "bun:test";
import type { Scope } from "../../../src/domain/scope.ts";
import type { Receipt, UsageQuery } from "../../../src/ledger/records.ts";
import { OTHER_SCOPES, type UsageDimension, type UsageRow } from "../../../src/ledger/usage-records.ts";
import type { LedgerUnderTest } from "../contract/env.ts";

const KINDS = ["project", "member", "end_user", "tag", "run", "parent_key"] as const;

/** Scopes that histories have, and some that nothing has. */
function scopesOf(walletId: string): readonly Scope[] {
  return [
    { kind: "project", id: walletId },
    { kind: "project", id: "p1" },
    { kind: "member", id: "m1" },
    { kind: "end_user", id: "u0" },
    { kind: "end_user", id: "u2" },
    { kind: "end_user", id: "nobody" },
    { kind: "tag", id: "team=blue" },
    { kind: "tag", id: "stage=1" },
    { kind: "run", id: "run-7" },
    { kind: "parent_key", id: "root" },
    { kind: "parent_key", id: "parent-1" },
  ];
}

/** Queries that scope days serve, and some that they cannot. */
export function scopeQueriesOf(walletId: string, toMs: number): readonly UsageQuery[] {
  const tagKey = "team";
  return [
    ...KINDS.map((kind) => ({ walletId, groupBy: [kind], tagKey })),
    ...KINDS.map((kind) => ({ walletId, groupBy: ["day", kind], tagKey, toMs }) as const),
    ...scopesOf(walletId).map((scope) => ({ walletId, groupBy: ["day"], scopes: [scope] }) as const),
    ...scopesOf(walletId).map((scope) => ({ walletId, groupBy: [], scopes: [scope], toMs }) as const),
    { walletId, groupBy: ["project"], scopes: [{ kind: "project", id: "p1" }] },
    { walletId, groupBy: ["project"], scopes: [{ kind: "project", id: walletId }] },
    { walletId, groupBy: ["end_user"], scopes: [{ kind: "end_user", id: "u1" }] },
    { walletId, groupBy: ["tag"], tagKey: "stage", scopes: [{ kind: "tag", id: "team=blue" }] },
    { walletId, groupBy: ["day"], scopes: scopesOf(walletId).slice(1, 4) },
    { walletId, groupBy: ["end_user"], among: ["u0", "u1", "nobody"] },
    { walletId, groupBy: ["day", "tag"], tagKey, among: ["blue"] },
    { walletId, groupBy: ["project"], among: [walletId] },
    { walletId, groupBy: ["project", "wallet"], among: [walletId] },
    { walletId, groupBy: ["tag"], tagKey, dearestMax: 2 },
  ];
}

/**
 * Compares rows with the plain sums. Where rows have a group of all other scopes, every other group has at most what it
 * should, receipts without a scope have all of it, and the sums of all groups are right.
 */
export function expectUsage(query: UsageQuery, rows: readonly UsageRow[], plain: readonly UsageRow[]): void {
  const dimension = query.groupBy.find((each) => KINDS.some((kind) => kind === each));
  if (!dimension || !rows.some(({ group }) => group[dimension] === OTHER_SCOPES)) {
    expect([query, rows]).toEqual([query, plain]);
    return;
  }
  const without = (all: readonly UsageRow[]) =>
    sumGroups(all, query.groupBy, ({ group }) => ({ ...group, [dimension]: "all" }));
  expect([query, without(rows)]).toEqual([query, without(plain)]);
  const known = new Map(plain.map((row) => [JSON.stringify(row.group), row]));
  for (const row of rows.filter(({ group }) => group[dimension] !== OTHER_SCOPES)) {
    const right = known.get(JSON.stringify(row.group));
    expect(row.requests).toBeLessThanOrEqual(right?.requests ?? 0);
    if (row.group[dimension] === null) expect<unknown>([query, row]).toEqual([query, right]);
  }
}

/** Adds rows up by another group. */
function sumGroups(
  rows: readonly UsageRow[],
  groupBy: readonly UsageDimension[],
  groupOf: (row: UsageRow) => UsageRow["group"],
): ReadonlyMap<string, readonly bigint[]> {
  const sums = new Map<string, readonly bigint[]>();
  for (const row of rows) {
    const group = groupOf(row);
    const name = JSON.stringify(groupBy.map((each) => group[each]));
    const { requests, open, ok = 0, captured, refunded, upstreamCost, costed, usage, totalMs } = row;
    const counts = [requests, open, ok, usage.inputTokens, usage.outputTokens, ...totalMs].map(BigInt);
    const added = [...counts, captured, refunded, upstreamCost, costed];
    sums.set(
      name,
      added.map((value, index) => value + (sums.get(name)?.[index] ?? 0n)),
    );
  }
  return new Map([...sums].sort(([one], [other]) => (one < other ? -1 : 1)));
}

const LIMIT_MAX = 1_000_000_000n;
let limits = 0;

/** Sets limits of all that histories spend for, and compares what they count with the receipts. */
export async function expectLimits(
  { ledger }: LedgerUnderTest,
  walletId: string,
  receipts: readonly Receipt[],
): Promise<void> {
  const bound = [
    { keyId: undefined },
    ...["root", "parent-0", "key-1"].map((keyId) => ({ keyId })),
    ...scopesOf(walletId)
      .map((scope) => ({ keyId: undefined, scope }))
      .filter(({ scope }) => scope.kind !== "parent_key"),
  ];
  for (const each of bound) {
    const limit = {
      walletId,
      limitId: `limit-${++limits}`,
      ...each,
      period: "total",
      amount: LIMIT_MAX,
    } as const;
    await ledger.setSpendLimit(limit);
    const set = (await ledger.spendLimits(walletId)).find(({ limitId }) => limitId === limit.limitId);
    const spent = receipts
      .filter((receipt) => hasSpentFor(limit, receipt))
      .reduce((sum, { captured, refunded }) => sum + captured - refunded, 0n);
    expect([each, set?.used]).toEqual([each, spent]);
    await ledger.deleteSpendLimit(limit);
  }
}

function hasSpentFor(
  { keyId, scope }: { readonly keyId: string | undefined; readonly scope?: Scope },
  { walletId, scopes, ...receipt }: Receipt,
): boolean {
  const has = (kind: string, id?: string) =>
    scopes.some((each) => each.kind === kind && (id === undefined || each.id === id));
  if (keyId !== undefined) return receipt.keyId === keyId || has("parent_key", keyId);
  if (!scope) return true;
  const isOfDefault = scope.kind === "project" && scope.id === walletId;
  return has(scope.kind, scope.id) || (isOfDefault && !has("project"));
}
