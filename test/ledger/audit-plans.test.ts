import { expect, test } from "bun:test";
import { invariantsOf, overdueHolds } from "../../src/ledger/audit/invariants.ts";
import {
  droppedInvariants,
  totalsEqualWallets,
  usageInvariants,
} from "../../src/ledger/audit/usage-invariants.ts";
import { SQLITE } from "../../src/ledger/queries/query.ts";
import { differencesSql } from "../../src/ledger/retention/sums.ts";
import { openLedger } from "./samples.ts";

const all = () => "1 = 1";
const INVARIANTS = [
  ...invariantsOf(SQLITE, all),
  ...droppedInvariants(SQLITE, all),
  ...usageInvariants(SQLITE, all),
  ...[totalsEqualWallets(), overdueHolds(all, "0")],
];
const RECEIPTS = { table: "holds", condition: all() };
const DIFFERENCES = differencesSql(SQLITE, RECEIPTS, { fromMs: "0", toMs: "1" });

test("no comparison of the audit or of retention reads a whole side for each row of the other, in SQLite", async () => {
  const { database, close } = await openLedger(1n);
  for (const { id, sql } of [...INVARIANTS, { id: "differences", sql: DIFFERENCES }]) {
    const plan: readonly { readonly detail: string }[] = database.client
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all();
    const joins = plan.map(({ detail }) => detail).filter((detail) => /LEFT-JOIN|RIGHT-JOIN/.test(detail));
    expect([id, joins.filter((detail) => !detail.startsWith("SEARCH "))]).toEqual([id, []]);
    // Each side is looked up by every key that both have.
    const [, keys = ""] = /one_side LEFT JOIN other_side USING \((.*?)\)/.exec(sql) ?? [];
    for (const detail of joins.filter((each) => each.includes("_side")))
      expect([id, keysOf(detail)]).toEqual([id, keys.split(", ").toSorted()]);
  }
  await close();
});

/** The columns by which a step of a plan looks rows up. */
function keysOf(detail: string): readonly string[] {
  return Array.from(detail.matchAll(/(\w+)=\?/g), ([, name = ""]) => name).toSorted();
}
