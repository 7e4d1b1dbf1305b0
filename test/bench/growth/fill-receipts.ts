import { Database } from "bun:sqlite";
import { HOUR_MS } from "../../../src/domain/id-time.ts";

/** Fills the SQLite file of a running gateway with receipts, each with its transfer in the journal. */
export interface ReceiptFiller {
  /** Adds receipts until there are `count`, which must be a multiple of the number of wallets. */
  fillTo(count: number): void;
  close(): void;
}

/** Receipts per transaction: the gateway can write between them. */
const CHUNK = 50_000;
/** Time between two receipts. Ten million of them are made within 56 hours. */
const STEP_MS = 20;
const AGE_MS = 10_000_000 * STEP_MS + 3_600_000;

/**
 * Copies one settled receipt of the database by SQL, as often as wanted, to wallets that have had one top-up
 * and nothing else. The copies are older than every real receipt. Balances and journal stay consistent.
 */
export function openReceiptFiller(path: string, walletIds: readonly string[]): ReceiptFiller {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 10000");
  db.run("PRAGMA synchronous = OFF");
  db.run("CREATE TEMP TABLE original AS SELECT * FROM holds WHERE state = 'settled' LIMIT 1");
  db.run(
    "CREATE TEMP TABLE original_transfer AS SELECT * FROM transfers WHERE hold_id = (SELECT hold_id FROM original)",
  );
  db.run("CREATE TEMP TABLE owners (at INTEGER PRIMARY KEY, wallet_id TEXT NOT NULL)");
  for (const [at, walletId] of walletIds.entries()) {
    db.run("INSERT INTO owners VALUES (?, ?)", [at, walletId]);
  }
  const firstMs = Date.now() - AGE_MS;
  const wallets = walletIds.length;
  const insertHolds = copyStatement(db, { table: "holds", from: "original", values: holdValues(firstMs) });
  const insertTransfers = copyStatement(db, {
    table: "transfers",
    from: "original_transfer",
    values: transferValues(firstMs, wallets),
  });
  // As the ledger does for receipts of hours that may be summed up already.
  const markStale = db.query<never, [number]>(
    `INSERT INTO usage_stale (wallet_id, start_ms, changes) SELECT wallet_id, ?, 1 FROM owners WHERE true
      ON CONFLICT (wallet_id, start_ms) DO UPDATE SET changes = changes + 1`,
  );
  const addChunk = db.transaction((from: number, to: number) => {
    const hourOf = (n: number) => Math.floor((firstMs + n * STEP_MS) / HOUR_MS);
    for (let hour = hourOf(from); hour <= hourOf(to - 1); hour += 1) markStale.run(hour * HOUR_MS);
    const range = { $from: from, $to: to, $wallets: wallets };
    db.query(insertHolds).run(range);
    db.query(insertTransfers).run(range);
    const perWallet = (to - from) / wallets;
    db.run(
      `UPDATE wallets SET posted = posted - ? * (SELECT captured FROM original), last_seq = last_seq + ?
        WHERE wallet_id IN (SELECT wallet_id FROM owners)`,
      [perWallet, perWallet],
    );
  });
  let filled = 0;
  return {
    fillTo(count) {
      while (filled < count) {
        const to = Math.min(count, filled + CHUNK);
        addChunk.immediate(filled, to);
        filled = to;
      }
      db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    close: () => db.close(),
  };
}

/** Expressions by column. Columns that are not named are copied. */
type Values = Readonly<Record<string, string>>;

interface Copy {
  readonly table: "holds" | "transfers";
  readonly from: string;
  readonly values: Values;
}

/** Inserts the rows numbered from `$from` to before `$to`; the wallets take turns. */
function copyStatement(db: Database, { table, from, values }: Copy): string {
  const columns = db
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map(({ name }) => name);
  const printed = columns.map((name) => values[name] ?? `original.${name}`);
  return `
    WITH RECURSIVE numbers(n) AS (SELECT $from UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < $to)
    INSERT INTO ${table} (${columns.join(", ")}) SELECT ${printed.join(", ")}
    FROM numbers JOIN owners ON owners.at = n % $wallets CROSS JOIN ${from} AS original ORDER BY n`;
}

function holdValues(firstMs: number): Values {
  const ms = `(${firstMs} + n * ${STEP_MS})`;
  return {
    wallet_id: "owners.wallet_id",
    hold_id: holdId(ms),
    created_at_ms: ms,
    expires_at_ms: `${ms} + original.ttl_ms`,
    resolved_at_ms: `${ms} + original.total_ms`,
  };
}

function transferValues(firstMs: number, wallets: number): Values {
  const ms = `(${firstMs} + n * ${STEP_MS})`;
  const ofWallet = `(n / ${wallets} + 1)`;
  return {
    wallet_id: "owners.wallet_id",
    // The first transfer of each wallet is its top-up.
    seq: `1 + ${ofWallet}`,
    transfer_id: holdId(ms),
    posted_after: `(SELECT amount FROM transfers AS top_up WHERE top_up.wallet_id = owners.wallet_id
      AND transfer_id = 'seed' AND kind = 1) - ${ofWallet} * original.amount`,
    hold_id: holdId(ms),
    created_at_ms: `${ms} + 100`,
  };
}

/** A UUIDv7 of this time whose last digits are the number of the row. */
function holdId(ms: string): string {
  return `printf('%08x-%04x-7%03x-8000-%012x', ${ms} >> 16, ${ms} & 65535, n & 4095, n)`;
}
