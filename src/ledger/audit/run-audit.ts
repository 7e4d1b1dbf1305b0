import { type Ask, createValues, type Dialect, type Row, type Values } from "../queries/query.ts";
import { type Invariant, invariantsOf, overdueHolds, type Range } from "./invariants.ts";

/** Books that can be looked at while others change them. */
export interface AuditedBooks {
  readonly dialect: Dialect;
  /** Runs queries that all see the books of one moment. */
  inSnapshot<Result>(look: (ask: Ask) => Promise<Result>): Promise<Result>;
}

/** One row that contradicts an invariant. `subject` is a hold, transfer or limit; `undefined` is the wallet. */
export interface Finding {
  readonly invariant: string;
  readonly says: string;
  readonly walletId: string;
  readonly subject: string | undefined;
}

/** What an audit looked at and found. The books are right when `findings` is empty. */
export interface AuditReport {
  readonly wallets: number;
  readonly holds: number;
  readonly transfers: number;
  readonly checked: readonly string[];
  /** At most 100 per invariant; one is enough to fail. */
  readonly findings: readonly Finding[];
  /** What will mend itself: holds past their time that no sweep has reached. At most 100. */
  readonly warnings: readonly Finding[];
}

export interface AuditOptions {
  readonly nowMs: number;
  /** Wallets that are looked at in one snapshot. Default 1,000. */
  readonly walletsPerSnapshot?: number;
}

const WALLETS_PER_SNAPSHOT = 1_000;
const ROWS_MAX = 100;
/** Holds may be this much past their time before the audit warns: the sweeper comes every few seconds. */
const GRACE_MS = 30_000;

const TABLES = ["wallets", "holds", "transfers"] as const;

/**
 * Checks every invariant, a range of wallets after the other, each in one snapshot: a snapshot that is kept
 * for long keeps the database from clearing up. Between them the ranges leave no row out, not even one whose
 * wallet is missing. Holds nothing but what it found.
 */
export async function runAudit(
  books: AuditedBooks,
  { nowMs, walletsPerSnapshot = WALLETS_PER_SNAPSHOT }: AuditOptions,
): Promise<AuditReport> {
  const tally = createTally();
  let after: string | undefined;
  do {
    after = await books.inSnapshot(async (ask) => {
      const through = await endOfRange(ask, books.dialect, { after, wallets: walletsPerSnapshot });
      await auditRange(ask, books.dialect, { tally, nowMs, after, through });
      return through;
    });
  } while (after !== undefined);
  return tally.report();
}

interface RangeStart {
  readonly after: string | undefined;
  readonly wallets: number;
}

/** The last wallet of a range; `undefined` when there are fewer left, for the last range is open. */
async function endOfRange(ask: Ask, dialect: Dialect, { after, wallets }: RangeStart) {
  const values = createValues(dialect);
  const condition = after === undefined ? "" : `WHERE wallet_id > ${values.add(after)}`;
  const sql = `SELECT wallet_id FROM wallets ${condition} ORDER BY wallet_id
    LIMIT 1 OFFSET ${values.add(wallets - 1)}`;
  const [row] = await ask({ sql, values: values.all });
  return row ? String(row.wallet_id) : undefined;
}

interface AuditedRange {
  readonly tally: Tally;
  readonly nowMs: number;
  readonly after: string | undefined;
  readonly through: string | undefined;
}

async function auditRange(ask: Ask, dialect: Dialect, { tally, nowMs, after, through }: AuditedRange) {
  const values = createValues(dialect);
  const range = rangeOf(values, after, through);
  const askAll = (sql: string) => ask({ sql, values: values.all });
  for (const table of TABLES) {
    const [row] = await askAll(`SELECT count(*) AS count FROM ${table} WHERE ${range("wallet_id")}`);
    tally.count(table, Number(row?.count));
  }
  for (const invariant of invariantsOf(dialect, range)) {
    tally.find(invariant, await askAll(limited(invariant)));
  }
  const overdue = overdueHolds(range, `${nowMs - GRACE_MS}`);
  tally.warn(overdue, await askAll(limited(overdue)));
}

function rangeOf(values: Values, after: string | undefined, through: string | undefined): Range {
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

function createTally() {
  const counts = { wallets: 0, holds: 0, transfers: 0 };
  const checked = new Set<string>();
  const findings = new Map<string, Finding[]>();
  const warnings = new Map<string, Finding[]>();

  const keep = (kept: Map<string, Finding[]>, { id, says }: Invariant, rows: readonly Row[]) => {
    checked.add(`${id}: ${says}`);
    const found = kept.get(id) ?? [];
    for (const { wallet_id, subject } of rows.slice(0, ROWS_MAX - found.length)) {
      const finding = {
        walletId: String(wallet_id),
        subject: subject === null ? undefined : String(subject),
      };
      found.push({ invariant: id, says, ...finding });
    }
    kept.set(id, found);
  };

  return {
    count(table: (typeof TABLES)[number], rows: number) {
      counts[table] += rows;
    },
    find: (invariant: Invariant, rows: readonly Row[]) => keep(findings, invariant, rows),
    warn: (invariant: Invariant, rows: readonly Row[]) => keep(warnings, invariant, rows),
    report: (): AuditReport => ({
      ...counts,
      checked: [...checked].sort(),
      findings: [...findings.values()].flat(),
      warnings: [...warnings.values()].flat(),
    }),
  };
}
