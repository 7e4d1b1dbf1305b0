import type { CounterKey } from "./core/book.ts";

/** An end user of a wallet whose name is to be replaced. */
export interface Forgetting {
  readonly walletId: string;
  /** As receipts name the end user. */
  readonly endUser: string;
  readonly pseudonym: string;
}

/** A transaction of either dialect. Statements have the placeholders `$1` and so on. */
export interface Transaction {
  readonly isPostgres: boolean;
  /** Integers may be bigints or texts. */
  all(sql: string, ...values: readonly Value[]): Promise<readonly Row[]>;
}

export type Value = string | bigint | null;
export type Row = Readonly<Record<string, unknown>>;

/** Renames what dropped receipts have left in counters. */
export async function renameDropped(tx: Transaction, forgetting: Forgetting): Promise<void> {
  const { walletId } = forgetting;
  const rename = await readCounterNames(tx, forgetting);
  const rows = await tx.all(
    "SELECT limit_id, period_start_ms, used FROM dropped_counters WHERE wallet_id = $1",
    walletId,
  );
  for (const row of rows) {
    const from = { counterId: String(row.limit_id), periodStartMs: Number(row.period_start_ms) };
    const to = { ...from, counterId: rename(from.counterId) };
    if (to.counterId === from.counterId) continue;
    const used = amountOf(row.used);
    await moveUsed(tx, walletId, { from, to, used });
    await tx.all(
      "DELETE FROM dropped_counters WHERE wallet_id = $1 AND limit_id = $2 AND period_start_ms = $3",
      walletId,
      from.counterId,
      BigInt(from.periodStartMs),
    );
    await addUsed(tx, "dropped_counters", { walletId, to, used });
  }
  await removeEmpty(tx, forgetting);
}

/**
 * Returns a function that gives a counter of the end user the name of the pseudonym, and leaves every other as it is.
 * The second line of a counter's id is the scope that its template counts.
 */
export async function readCounterNames(
  { all }: Transaction,
  { walletId, endUser, pseudonym }: Forgetting,
): Promise<(counterId: string) => string> {
  const rows = await all(
    "SELECT limit_id FROM spend_limits WHERE wallet_id = $1 AND each_kind = 'end_user'",
    walletId,
  );
  const templates = new Set(rows.map(({ limit_id }) => String(limit_id)));
  return (counterId) => {
    const [limitId = "", subject, ...rest] = counterId.split("\n");
    if (subject !== endUser || !templates.has(limitId)) return counterId;
    return [limitId, pseudonym, ...rest].join("\n");
  };
}

interface Move {
  readonly from: CounterKey;
  readonly to: CounterKey;
  readonly used: bigint;
}

export async function moveUsed(tx: Transaction, walletId: string, { from, to, used }: Move): Promise<void> {
  if (used === 0n) return;
  await tx.all(
    "UPDATE limit_counters SET used = used - $1 WHERE wallet_id = $2 AND limit_id = $3 AND period_start_ms = $4",
    used,
    walletId,
    from.counterId,
    BigInt(from.periodStartMs),
  );
  await addUsed(tx, "limit_counters", { walletId, to, used });
}

async function addUsed(
  { all }: Transaction,
  table: "limit_counters" | "dropped_counters",
  { walletId, to, used }: Omit<Move, "from"> & { readonly walletId: string },
): Promise<void> {
  const [held, zero] = table === "limit_counters" ? [", held", ", 0"] : ["", ""];
  await all(
    `INSERT INTO ${table} (wallet_id, limit_id, period_start_ms, used${held}) VALUES ($1, $2, $3, $4${zero})
      ON CONFLICT (wallet_id, limit_id, period_start_ms) DO UPDATE SET used = ${table}.used + excluded.used`,
    walletId,
    to.counterId,
    BigInt(to.periodStartMs),
    used,
  );
}

/** Removes counters of the end user that count nothing any more. */
export async function removeEmpty(tx: Transaction, forgetting: Forgetting): Promise<void> {
  const { walletId } = forgetting;
  const rename = await readCounterNames(tx, forgetting);
  const rows = await tx.all(
    "SELECT DISTINCT limit_id FROM limit_counters WHERE wallet_id = $1 AND used = 0 AND held = 0",
    walletId,
  );
  for (const { limit_id } of rows) {
    const counterId = String(limit_id);
    if (rename(counterId) === counterId) continue;
    await tx.all(
      "DELETE FROM limit_counters WHERE wallet_id = $1 AND limit_id = $2 AND used = 0 AND held = 0",
      walletId,
      counterId,
    );
  }
}

export function amountOf(value: unknown): bigint {
  return BigInt(String(value));
}
