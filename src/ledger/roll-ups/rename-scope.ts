import { MEASURE_COLUMNS } from "../../db/usage-columns.ts";
import type { Forgetting, Transaction } from "../end-user-counters.ts";
import { furtherOf } from "../queries/scope-columns.ts";

/** What a scope day sums up. */
const SUMMED = ["ok", ...MEASURE_COLUMNS];

/**
 * Gives the scope days of an end user to a pseudonym, and adds them to those that it has. A day that has others may
 * count some receipts of the pseudonym among them. A step of the job that has summed up the old name writes no more.
 */
export async function renameScopeDays(
  { all }: Transaction,
  { walletId, endUser, pseudonym }: Forgetting,
): Promise<void> {
  await all(`UPDATE usage_cursor SET version = version + 1, totals_version = totals_version + 1,
    scopes_version = scopes_version + 1`);
  const days = await all("SELECT DISTINCT start_ms FROM usage_days WHERE wallet_id = $1", walletId);
  if (days.length === 0) return;
  // By day, because the table is sorted by wallet and day first. SQLite numbers placeholders as they appear.
  const isNamed = (wallet: string, kind: string, id: string) => `wallet_id = ${wallet} AND kind = ${kind}
    AND scope_id = ${id} AND start_ms IN (${days.map(({ start_ms }) => Number(start_ms)).join(", ")})`;
  const columns = ["wallet_id", "start_ms", "kind", "scope_id", ...SUMMED].join(", ");
  const add = (name: string) => `${name} = coalesce(u.${name}, 0) + coalesce(excluded.${name}, 0)`;
  for (const kind of ["end_user", furtherOf("end_user")]) {
    await all(
      `INSERT INTO usage_scope_days AS u (${columns})
        SELECT wallet_id, start_ms, kind, $1, ${SUMMED.join(", ")} FROM usage_scope_days
        WHERE ${isNamed("$2", "$3", "$4")}
        ON CONFLICT (wallet_id, start_ms, kind, scope_id) DO UPDATE SET ${SUMMED.map(add).join(", ")}`,
      ...[pseudonym, walletId, kind, endUser],
    );
    const remove = `DELETE FROM usage_scope_days WHERE ${isNamed("$1", "$2", "$3")}`;
    await all(remove, walletId, kind, endUser);
  }
}
