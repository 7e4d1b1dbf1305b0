import { OTHER } from "../../../src/db/usage-columns.ts";
import { DAY_MS, startOf, timeOf } from "../../../src/domain/id-time.ts";
import type { Scope } from "../../../src/domain/scope.ts";
import { readCursor } from "../../../src/ledger/queries/coverage.ts";
import { furtherOf, isScopeDimension } from "../../../src/ledger/queries/scope-columns.ts";
import { readMeasures } from "../../../src/ledger/queries/usage-columns.ts";
import type { LedgerReads, Receipt } from "../../../src/ledger/records.ts";
import { columnsOf } from "../../../src/ledger/roll-ups/aggregate.ts";
import type { RollUpStore } from "../../../src/ledger/roll-ups/store.ts";
import type { UsageRow } from "../../../src/ledger/usage-records.ts";
import { plainUsage, readAll } from "./plain-usage.ts";

/** What a scope day sums up, by the wallet, day, kind and id that its key prints. */
type ScopeDays = ReadonlyMap<string, Omit<UsageRow, "group">>;

/** Sums receipts one by one, as scope days must, of days that are summed up and wallets that have no stale hour there. */
export async function plainScopes(
  ledger: LedgerReads,
  store: RollUpStore,
  ownRowsMax: number,
): Promise<ScopeDays> {
  const isRead = await readState(store);
  const byKind = new Map<string, Map<string, Receipt[]>>();
  const receipts = [...(await readAll(ledger, undefined))].sort(
    (one, other) => compareTexts(one.holdId, other.holdId) || compareTexts(one.walletId, other.walletId),
  );
  for (const receipt of receipts) {
    const dayMs = startOf(timeOf(receipt.holdId), DAY_MS);
    if (!isRead(receipt.walletId, dayMs)) continue;
    for (const { kind, id } of namedScopes(receipt)) {
      const name = `${receipt.walletId} ${dayMs} ${kind}`;
      const byId = byKind.get(name) ?? new Map<string, Receipt[]>();
      byKind.set(name, byId.set(id, [...(byId.get(id) ?? []), receipt]));
    }
  }
  const days = new Map<string, Omit<UsageRow, "group">>();
  for (const [name, byId] of byKind) {
    const first = ([id, [receipt]]: [string, Receipt[]]) => `${receipt?.holdId} ${id}`;
    const inOrder = [...byId].sort((one, other) => compareTexts(first(one), first(other)));
    const own = inOrder.slice(0, ownRowsMax);
    const others = inOrder.slice(ownRowsMax).flatMap(([, receipts]) => receipts);
    if (others.length > 0) own.push([OTHER, others]);
    for (const [id, receipts] of own) days.set(`${name} ${id}`, sumOf(receipts));
  }
  return sorted(days);
}

/** The scope days that may be read. */
export async function readScopeDays(store: RollUpStore): Promise<ScopeDays> {
  const isRead = await readState(store);
  const measures = store.dialect.array(columnsOf("usage_scope_days").slice(5));
  const sql = `SELECT wallet_id, start_ms, kind, scope_id, ok, ${measures} AS measures FROM usage_scope_days`;
  const days = new Map<string, Omit<UsageRow, "group">>();
  for (const row of await store.run({ sql, values: [] })) {
    const [walletId, startMs] = [String(row.wallet_id), Number(row.start_ms)];
    if (!isRead(walletId, startMs)) continue;
    const name = `${walletId} ${startMs} ${row.kind} ${row.scope_id}`;
    days.set(name, { ...readMeasures(row), ok: Number(row.ok ?? 0) });
  }
  return sorted(days);
}

/** Returns whether scope days of a wallet and day may be read. */
async function readState({ run }: RollUpStore) {
  const [row] = await run({ sql: "SELECT * FROM usage_cursor", values: [] });
  const { scopes } = readCursor(row);
  const stale = await run({ sql: "SELECT wallet_id, start_ms FROM usage_stale", values: [] });
  const staleDays = new Set(
    stale.map((each) => `${each.wallet_id} ${startOf(Number(each.start_ms), DAY_MS)}`),
  );
  return (walletId: string, dayMs: number) =>
    dayMs >= scopes.fromMs && dayMs < scopes.toMs && !staleDays.has(`${walletId} ${dayMs}`);
}

/** The scopes of a receipt with their kinds in scope days. */
function namedScopes({ scopes }: Receipt): readonly { readonly kind: string; readonly id: string }[] {
  const groupOf = ({ kind, id }: Scope) => (kind === "tag" ? `tag ${id.split("=")[0]}` : kind);
  return scopes.map((scope) => {
    const isFirst = scopes.find((each) => groupOf(each) === groupOf(scope)) === scope;
    const kind = isFirst || !isScopeDimension(scope.kind) ? scope.kind : furtherOf(scope.kind);
    return { kind, id: scope.id };
  });
}

function sumOf(receipts: readonly Receipt[]): Omit<UsageRow, "group"> {
  const [row] = plainUsage(receipts, { walletId: undefined, groupBy: [] });
  if (!row) throw new Error("A sum without groups has one row");
  const { group: _, ...sums } = row;
  return sums;
}

function sorted(days: Map<string, Omit<UsageRow, "group">>): ScopeDays {
  return new Map([...days].sort(([one], [other]) => compareTexts(one, other)));
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
