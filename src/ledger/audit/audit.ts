import type { PostgresDatabase } from "../../db/postgres/database.ts";
import type { SqliteDatabase } from "../../db/sqlite/database.ts";
import {
  createValues,
  type Dialect,
  POSTGRES,
  type Row,
  type RunQuery,
  SQLITE,
  type Values,
} from "../queries/query.ts";
import { createWorkerReader, type WorkerReader } from "../sqlite/reads.ts";
import { creditInvariants } from "./credit-invariants.ts";
import { type Invariant, invariantsOf, overdueHolds, type WalletRange } from "./invariants.ts";
import { droppedInvariants, lateRollUps, totalsEqualWallets, usageInvariants } from "./usage-invariants.ts";

/** A ledger's database of either dialect. */
export type AuditedDatabase =
  | { readonly dialect: "sqlite"; readonly sqlite: Pick<SqliteDatabase, "path"> }
  | { readonly dialect: "postgres"; readonly postgres: Pick<PostgresDatabase, "connect"> };

/** The result of an audit. The ledger is consistent when `findings` is empty. */
export interface AuditReport {
  readonly wallets: number;
  readonly holds: number;
  readonly transfers: number;
  readonly checked: readonly string[];
  /** At most 100 per invariant. */
  readonly findings: readonly Finding[];
  /** Holds well past their time that no sweep has expired yet, at most 100, and roll-ups that lag. */
  readonly warnings: readonly Finding[];
}

/** One row that violates an invariant. `subject` is a hold, transfer or limit; `undefined` is the wallet. */
export interface Finding {
  readonly invariant: string;
  readonly claim: string;
  readonly walletId: string;
  readonly subject: string | undefined;
}

/** Audits a ledger's database, which may be in use. */
export function auditDatabase(
  database: AuditedDatabase,
  nowMs: number,
  options: AuditOptions = {},
): Promise<AuditReport> {
  return database.dialect === "sqlite"
    ? auditSqlite(database.sqlite, nowMs, options)
    : auditPostgres(database.postgres, nowMs, options);
}

export interface AuditOptions {
  /** The most wallets audited in one snapshot. Default: 1,000 in PostgreSQL, all in SQLite. */
  readonly walletsPerSnapshot?: number;
  /** Runs the queries over SQLite. Default: a worker. */
  readonly reader?: WorkerReader;
  /** Called before the first check and after each one, with the numbers of checks. */
  readonly onProgress?: (done: number, total: number) => void;
}

const WALLETS_PER_SNAPSHOT = 1_000;
/** A SQLite file has no index by wallet: each range would scan whole tables. */
const ALL_WALLETS = Number.MAX_SAFE_INTEGER;

/** The longest query of an audit, which reads whole tables. */
const QUERY_MS_MAX = 600_000;

/**
 * Audits a SQLite ledger in a worker with a connection of its own. Takes no lock that blocks a running server,
 * nor the event loop. Each invariant is checked by one statement, and so in one snapshot.
 */
export async function auditSqlite(
  { path }: Pick<SqliteDatabase, "path">,
  nowMs: number,
  {
    walletsPerSnapshot = ALL_WALLETS,
    onProgress,
    reader = createWorkerReader({ path, replyMsMax: QUERY_MS_MAX }),
  }: AuditOptions = {},
): Promise<AuditReport> {
  try {
    const inSnapshot: AuditSource["inSnapshot"] = (read) => read(reader.run);
    return await runAudit({ dialect: SQLITE, inSnapshot }, { nowMs, walletsPerSnapshot, onProgress });
  } finally {
    reader.close();
  }
}

/** Audits a PostgreSQL ledger, over a read-only connection of its own without a statement timeout. */
export async function auditPostgres(
  database: Pick<PostgresDatabase, "connect">,
  nowMs: number,
  { walletsPerSnapshot = WALLETS_PER_SNAPSHOT, onProgress }: AuditOptions = {},
): Promise<AuditReport> {
  const client = database.connect({ max: 1, session: { statement_timeout: 0 } });
  const inSnapshot: AuditSource["inSnapshot"] = (read) =>
    client.begin("isolation level repeatable read read only", async (snapshot) => {
      // Before the snapshot: a partition that is dropped after it would be missing from it.
      await snapshot.unsafe("LOCK TABLE holds IN ACCESS SHARE MODE");
      return read(async ({ sql, values }) => snapshot.unsafe(sql, [...values]));
    });
  try {
    return await runAudit({ dialect: POSTGRES, inSnapshot }, { nowMs, walletsPerSnapshot, onProgress });
  } finally {
    await client.close();
  }
}

interface AuditSource {
  readonly dialect: Dialect;
  /** Runs queries that all see the same snapshot of the database. */
  inSnapshot<Result>(read: (run: RunQuery) => Promise<Result>): Promise<Result>;
}

/** The most rows per invariant. */
const ROWS_MAX = 100;
/** The audit warns of holds further past their time than this. The sweeper runs every few seconds. */
const GRACE_MS = 30_000;

/**
 * Checks every invariant, one range of wallets after the other. Each range has a snapshot of its own: a long
 * snapshot would keep PostgreSQL from vacuuming. The ranges cover all ids, so that rows without a wallet are
 * found too.
 */
async function runAudit(
  { dialect, inSnapshot }: AuditSource,
  { nowMs, walletsPerSnapshot, onProgress = () => {} }: RunOptions,
): Promise<AuditReport> {
  const tally = createTally();
  const [row] = await inSnapshot((run) => run({ sql: "SELECT count(*) AS count FROM wallets", values: [] }));
  const ranges = Math.ceil((Number(row?.count) + 1) / walletsPerSnapshot);
  const checks = createCheckCount(dialect, ranges, onProgress);
  let after: string | undefined;
  do {
    after = await inSnapshot(async (read) => {
      const through = await endOfRange(read, dialect, { after, wallets: walletsPerSnapshot });
      await auditRange(checks.counted(read), dialect, { tally, nowMs, after, through });
      return through;
    });
  } while (after !== undefined);
  return tally.report();
}

interface RunOptions {
  readonly nowMs: number;
  readonly walletsPerSnapshot: number;
  readonly onProgress: AuditOptions["onProgress"];
}

/** Counts the queries of {@link auditRange}. Their number grows when wallets are created meanwhile. */
function createCheckCount(
  dialect: Dialect,
  ranges: number,
  onProgress: (done: number, total: number) => void,
) {
  const all: WalletRange = () => "1 = 1";
  const perRange = TABLES.length + allInvariants(dialect, all).length + 1;
  const total = ranges * perRange + LAST_CHECKS;
  let done = 0;
  onProgress(done, total);
  return {
    counted:
      (run: RunQuery): RunQuery =>
      async (query) => {
        const rows = await run(query);
        done += 1;
        onProgress(Math.min(done, total), total);
        return rows;
      },
  };
}

interface RangeStart {
  readonly after: string | undefined;
  readonly wallets: number;
}

/** Returns the last wallet of a range; `undefined` for the last range, which has no upper bound. */
async function endOfRange(run: RunQuery, dialect: Dialect, { after, wallets }: RangeStart) {
  const values = createValues(dialect);
  const condition = after === undefined ? "" : `WHERE wallet_id > ${values.add(after)}`;
  const sql = `SELECT wallet_id FROM wallets ${condition} ORDER BY wallet_id
    LIMIT 1 OFFSET ${values.add(wallets - 1)}`;
  const [row] = await run({ sql, values: values.all });
  return row ? String(row.wallet_id) : undefined;
}

interface AuditedRange {
  readonly tally: Tally;
  readonly nowMs: number;
  readonly after: string | undefined;
  readonly through: string | undefined;
}

const TABLES = ["wallets", "holds", "transfers"] as const;

/** The checks of the first range that concern all wallets at once. */
const LAST_CHECKS = 2;

async function auditRange(run: RunQuery, dialect: Dialect, { tally, nowMs, after, through }: AuditedRange) {
  const values = createValues(dialect);
  const range = rangeOf(values, after, through);
  const runAll = (sql: string) => run({ sql, values: values.all });
  for (const table of TABLES) {
    const [row] = await runAll(`SELECT count(*) AS count FROM ${table} WHERE ${range("wallet_id")}`);
    tally.count(table, Number(row?.count));
  }
  for (const invariant of allInvariants(dialect, range)) {
    tally.find(invariant, await runAll(limited(invariant)));
  }
  const overdue = overdueHolds(range, `${nowMs - GRACE_MS}`);
  tally.warn(overdue, await runAll(limited(overdue)));
  if (after !== undefined) return;
  const totals = totalsEqualWallets();
  tally.find(totals, await run({ sql: limited(totals), values: [] }));
  const late = lateRollUps(nowMs);
  tally.warn(late, await run({ sql: limited(late), values: [] }));
}

function allInvariants(dialect: Dialect, range: WalletRange): readonly Invariant[] {
  return [invariantsOf, creditInvariants, droppedInvariants, usageInvariants].flatMap((of) =>
    of(dialect, range),
  );
}

function rangeOf(values: Values, after: string | undefined, through: string | undefined): WalletRange {
  const first = after === undefined ? undefined : values.add(after);
  const last = through === undefined ? undefined : values.add(through);
  return (walletId) => {
    const bounds = [first && `${walletId} > ${first}`, last && `${walletId} <= ${last}`];
    return bounds.filter(Boolean).join(" AND ") || "1 = 1";
  };
}

function limited({ sql }: Invariant): string {
  return `SELECT wallet_id, subject FROM (${sql}) AS found LIMIT ${ROWS_MAX}`;
}

type Tally = ReturnType<typeof createTally>;

/** Collects the counts and findings of all ranges. */
function createTally() {
  const counts = { wallets: 0, holds: 0, transfers: 0 };
  const checked = new Set<string>();
  const findings = new Map<string, Finding[]>();
  const warnings = new Map<string, Finding[]>();

  const add = (to: Map<string, Finding[]>, { id, claim }: Invariant, rows: readonly Row[]) => {
    checked.add(`${id}: ${claim}`);
    const found = to.get(id) ?? [];
    for (const { wallet_id, subject } of rows.slice(0, ROWS_MAX - found.length)) {
      const finding = {
        walletId: String(wallet_id),
        subject: subject === null ? undefined : String(subject),
      };
      found.push({ invariant: id, claim, ...finding });
    }
    to.set(id, found);
  };

  return {
    count(table: (typeof TABLES)[number], rows: number) {
      counts[table] += rows;
    },
    find: (invariant: Invariant, rows: readonly Row[]) => add(findings, invariant, rows),
    warn: (invariant: Invariant, rows: readonly Row[]) => add(warnings, invariant, rows),
    report: (): AuditReport => ({
      ...counts,
      checked: [...checked].sort(),
      findings: [...findings.values()].flat(),
      warnings: [...warnings.values()].flat(),
    }),
  };
}
