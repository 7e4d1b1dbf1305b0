import { Database as SqliteClient } from "bun:sqlite";
import type { Database } from "../db/database.ts";
import { MEASURE_COLUMNS } from "../db/usage-columns.ts";
import { platform } from "../platform.ts";
import { bindingOfScope, printScopes, readScopes } from "./core/spender.ts";
import {
  amountOf,
  type Forgetting,
  moveUsed,
  type Row,
  readCounterNames,
  removeEmpty,
  renameDropped,
  type Transaction,
  type Value,
} from "./end-user-counters.ts";
import { rememberForgotten } from "./forgotten-names.ts";
import { LedgerError } from "./ledger.ts";
import { printCounterKeys, readCounterKeys } from "./queries/rows.ts";
import { furtherOf } from "./queries/scope-columns.ts";
import { type LedgerReads, pagesOf } from "./records.ts";

/** The receipts of one transaction. */
const PAGE_SIZE = 200;
/** Milliseconds that a write waits for another process. */
const BUSY_MS = 5_000;

/** What was replaced, and what was not, because it runs still. */
interface Forgotten {
  readonly receipts: number;
  readonly running: number;
}

interface ForgetParts {
  readonly database: Database;
  readonly ledger: Pick<LedgerReads, "receipts">;
  /** Unix milliseconds. */
  readonly now?: () => number;
}

/**
 * Replaces the name of an end user by a pseudonym, on receipts that have ended, in usage by scope and in the counters
 * of templates. Sums stay: in each transaction the counters of the pseudonym take over what its receipts had cost.
 * Running requests keep the name, and so do their receipts. A limit that binds the end user by name comes to bind the
 * pseudonym, in one transaction with all receipts. Rejects with `conflict` when there is such a limit, and a request runs.
 */
export async function forgetEndUser(parts: ForgetParts, forgetting: Forgetting): Promise<Forgotten> {
  const { database } = parts;
  const isBound = await transact(database, (tx) => bindsByName(tx, forgetting));
  if (isBound) return transact(database, (tx) => renameAll(tx, parts, forgetting));
  // Committed before the receipts are listed: one that is booked later is booked under the pseudonym.
  await transact(database, (tx) => remember(tx, parts, forgetting));
  const forgotten = await eachPage(parts, forgetting, (ids) => forgetReceipts(database, forgetting, ids));
  await transact(database, async (tx) => {
    await lockWallet(tx, forgetting.walletId);
    await renameDropped(tx, forgetting);
    await renameScopeDays(tx, forgetting);
  });
  return forgotten;
}

/** Passes the ids of ended receipts of an end user on, page by page. */
async function eachPage(
  { ledger }: Pick<ForgetParts, "ledger">,
  { walletId, endUser: id }: Forgetting,
  work: (holdIds: readonly string[]) => Promise<void>,
): Promise<Forgotten> {
  const filter = { walletId, scopes: [{ kind: "end_user", id }] } as const;
  let [receipts, running] = [0, 0];
  for await (const { items } of pagesOf((token) => ledger.receipts(filter, { size: PAGE_SIZE, token }))) {
    const ended = items.filter(({ state }) => state !== "held").map(({ holdId }) => holdId);
    if (ended.length > 0) await work(ended);
    receipts += ended.length;
    running += items.length - ended.length;
  }
  return { receipts, running };
}

/** Renames everything at once. The lock keeps new receipts away, and pages show what was committed before. */
async function renameAll(tx: Transaction, parts: ForgetParts, forgetting: Forgetting): Promise<Forgotten> {
  const { walletId, endUser, pseudonym } = forgetting;
  await lockWallet(tx, walletId);
  const forgotten = await eachPage(parts, forgetting, (holdIds) => renameReceipts(tx, forgetting, holdIds));
  if (forgotten.running > 0) throw new LedgerError("conflict");
  await tx.all(
    "UPDATE spend_limits SET key_id = $1 WHERE wallet_id = $2 AND key_id = $3",
    bindingOfScope({ kind: "end_user", id: pseudonym }),
    walletId,
    bindingOfScope({ kind: "end_user", id: endUser }),
  );
  await renameDropped(tx, forgetting);
  await renameScopeDays(tx, forgetting);
  await remember(tx, parts, forgetting);
  return forgotten;
}

async function remember(
  tx: Transaction,
  { now = platform.now }: ForgetParts,
  forgetting: Forgetting,
): Promise<void> {
  await rememberForgotten(tx, forgetting, now());
}

/** Replaces the name of an end user on some receipts that have ended, as {@link forgetEndUser} does on all of them. */
export function forgetReceipts(
  database: Database,
  forgetting: Forgetting,
  holdIds: readonly string[],
): Promise<void> {
  return transact(database, async (tx) => {
    await renameReceipts(tx, forgetting, holdIds);
    await tx.all(RAISE_VERSION);
  });
}

/** Whether a limit, in force or deleted, binds the end user by name. */
async function bindsByName({ all }: Transaction, { walletId, endUser }: Forgetting): Promise<boolean> {
  const binding = bindingOfScope({ kind: "end_user", id: endUser });
  const sql = "SELECT limit_id FROM spend_limits WHERE wallet_id = $1 AND key_id = $2 LIMIT 1";
  return (await all(sql, walletId, binding)).length > 0;
}

async function transact<Result>(
  database: Database,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  if (database.dialect === "postgres") {
    return database.postgres.client.begin((tx) =>
      work({ isPostgres: true, all: async (sql, ...values) => tx.unsafe(sql, [...values]) }),
    );
  }
  const client = new SqliteClient(database.sqlite.path, { readwrite: true, safeIntegers: true });
  try {
    client.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    client.run("BEGIN IMMEDIATE");
    const result = await work({
      isPostgres: false,
      all: async (sql, ...values) => client.query<Row, Value[]>(sql).all(...values),
    });
    client.run("COMMIT");
    return result;
  } finally {
    // An open transaction is rolled back.
    client.close();
  }
}

async function renameReceipts(
  tx: Transaction,
  forgetting: Forgetting,
  holdIds: readonly string[],
): Promise<void> {
  const { walletId, endUser, pseudonym } = forgetting;
  await lockWallet(tx, walletId);
  const rename = await readCounterNames(tx, forgetting);
  const json = tx.isPostgres ? "::text" : "";
  const id = tx.isPostgres ? "::uuid" : "";
  for (const holdId of holdIds) {
    const [hold] = await tx.all(
      `SELECT scopes${json} AS scopes, limits${json} AS limits, captured, refunded FROM holds
        WHERE wallet_id = $1 AND hold_id = $2${id} AND state <> 'held'`,
      walletId,
      holdId,
    );
    if (!hold) continue;
    const scopes = readScopes(textOf(hold.scopes)).map((scope) =>
      scope.kind === "end_user" && scope.id === endUser ? { ...scope, id: pseudonym } : scope,
    );
    const used = amountOf(hold.captured) - amountOf(hold.refunded);
    const keys = readCounterKeys(textOf(hold.limits));
    const renamed = keys.map((key) => ({ ...key, counterId: rename(key.counterId) }));
    for (const [index, key] of keys.entries()) {
      const after = renamed[index];
      if (after && after.counterId !== key.counterId)
        await moveUsed(tx, walletId, { from: key, to: after, used });
    }
    const cast = tx.isPostgres ? "::text::json" : "";
    await tx.all(
      `UPDATE holds SET scopes = $1${cast}, limits = $2${cast} WHERE wallet_id = $3 AND hold_id = $4${id}`,
      printScopes(scopes),
      printCounterKeys(renamed),
      walletId,
      holdId,
    );
  }
  await removeEmpty(tx, forgetting);
}

/** What has summed up the old name writes no more: a step of the roll-ups, or a drop of receipts. */
const RAISE_VERSION = `UPDATE usage_cursor SET version = version + 1, totals_version = totals_version + 1,
  scopes_version = scopes_version + 1`;

/** Writers of a wallet lock its row first, and gateways that know the wallet read it again when its row changes. */
async function lockWallet({ isPostgres, all }: Transaction, walletId: string): Promise<void> {
  if (isPostgres) await all("UPDATE wallets SET state = state WHERE wallet_id = $1", walletId);
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** What a scope day sums up. */
const SUMMED = ["ok", ...MEASURE_COLUMNS];

/**
 * Gives the scope days of an end user to a pseudonym, and adds them to those that it has. A day that has others may
 * count some receipts of the pseudonym among them.
 */
async function renameScopeDays(
  { all }: Transaction,
  { walletId, endUser, pseudonym }: Forgetting,
): Promise<void> {
  await all(RAISE_VERSION);
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
