import { count, isNotNull, min } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Platform } from "../http/console/platform.ts";
import type { ExportBacklog } from "../ledger/exports/backlog.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Backlog, ReadBackground } from "../telemetry/background-metrics.ts";
import { within } from "../time.ts";
import type { RunningExports } from "./start-exports.ts";
import type { RunningLedger } from "./start-ledger.ts";

interface ExportReadings {
  readonly counts: RunningExports["counts"];
  backlogs(): Promise<readonly ExportBacklog[]>;
}

interface BackgroundParts {
  readonly database: Database;
  readonly ledger: LedgerReads;
  readonly outbox: Platform["outbox"];
  /** The exports of usage, when the ledger is local. */
  readonly exports?: ExportReadings | undefined;
}

/** A scrape waits so long for a database that does not answer. */
const READ_MS_MAX = 1_000;

type LedgerReads = Pick<Ledger, "rollUps" | "runningTotals">;

/** Creates the reader of the outboxes, the ledger and the exports. A part that fails or is late is `undefined`. */
export function createBackgroundReader({
  database,
  ledger,
  outbox,
  exports,
}: BackgroundParts): ReadBackground {
  const { mails, webhookCalls } = database.tables;
  return async () => {
    const [mail, webhook, ledgerState, exported] = await Promise.all([
      ifRead(readBacklog(database, mails)),
      ifRead(readBacklog(database, webhookCalls)),
      readLedger(ledger),
      exports && readExported(exports),
    ]);
    const settlement = { entries: outbox.pending(), oldestAtMs: outbox.oldestAtMs() };
    return { outboxes: { mail, webhook, settlement }, ...ledgerState, exports: exported };
  };
}

/** Creates the reader of a process that runs the ledger alone, and has no outboxes. */
export function createLedgerReader({
  ledger,
  exports,
}: Omit<BackgroundParts, "database" | "outbox">): ReadBackground {
  const outboxes = { mail: undefined, webhook: undefined, settlement: undefined };
  return async () => {
    const [state, exported] = await Promise.all([readLedger(ledger), exports && readExported(exports)]);
    return { outboxes, ...state, exports: exported };
  };
}

/** What a scrape reads of the exports; `undefined` when the ledger is remote. */
export function readExports({ local, exports }: Pick<RunningLedger, "local" | "exports">) {
  return local && exports && { counts: exports.counts, backlogs: () => local.exportBacklogs() };
}

async function readExported({ counts, backlogs }: ExportReadings) {
  return { counts, backlogs: await ifRead(backlogs()) };
}

async function readLedger(ledger: LedgerReads) {
  const [rollUps, holds] = await Promise.all([ifRead(ledger.rollUps()), ifRead(readHolds(ledger))]);
  return { rollUps, holds };
}

/** Sums up the open holds of all wallets. */
async function readHolds(ledger: LedgerReads) {
  let count = 0;
  let granted = 0n;
  let oldestAtMs: number | undefined;
  for (const wallet of await ledger.runningTotals(undefined)) {
    count += wallet.count;
    granted += wallet.granted;
    oldestAtMs = Math.min(oldestAtMs ?? Infinity, wallet.oldestCreatedAtMs);
  }
  return { count, granted, oldestAtMs };
}

type OutboxTable = Database["tables"]["mails"] | Database["tables"]["webhookCalls"];

/** Counts the entries that are due, or will be. */
async function readBacklog({ db }: Database, table: OutboxTable): Promise<Backlog> {
  const [row] = await db
    .select({ entries: count(), oldestAtMs: min(table.createdAtMs) })
    .from(table)
    .where(isNotNull(table.nextAtMs));
  return { entries: row?.entries ?? 0, oldestAtMs: row?.oldestAtMs ?? undefined };
}

function ifRead<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  const settled = reading.catch(() => undefined);
  return within(READ_MS_MAX, settled, () => undefined);
}
