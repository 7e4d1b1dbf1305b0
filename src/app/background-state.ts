import { count, isNotNull, isNull, min } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Platform } from "../http/console/console-parts.ts";
import type { Readiness } from "../http/readiness.ts";
import type { ExportBacklog } from "../ledger/exports/cursor.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { within } from "../platform.ts";
import type { Backlog, ReadBackground } from "../telemetry/background-metrics.ts";
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
  /** Runs the checks of /readyz, each within 2 s. */
  readonly readiness: () => Promise<Readiness>;
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
  readiness,
}: BackgroundParts): ReadBackground {
  const { mails, webhookCalls } = database.tables;
  const readMails = bounded(() => readBacklog(database, mails));
  const readWebhooks = bounded(() => readBacklog(database, webhookCalls));
  const readPlanCredits = bounded(() => readUnbooked(database));
  const readLedger = ledgerReader(ledger);
  const readExported = exports && exportReader(exports);
  return async () => {
    const [mail, webhook, planCredits, ledgerState, exported, ready] = await Promise.all([
      readMails(),
      readWebhooks(),
      readPlanCredits(),
      readLedger(),
      readExported?.(),
      readiness().then(printReadiness),
    ]);
    const settlement = { entries: outbox.pending(), oldestAtMs: outbox.oldestAtMs() };
    const outboxes = { mail, webhook, settlement };
    return { outboxes, ...ledgerState, exports: exported, planCredits, readiness: ready };
  };
}

function printReadiness({ checks }: Readiness) {
  const parts = Object.fromEntries(Object.entries(checks).map(([part, { ok }]) => [part, ok]));
  const freeBytes = checks.outbox?.free_bytes;
  return { parts, outboxFreeBytes: typeof freeBytes === "number" ? freeBytes : undefined };
}

/** Creates the reader of a process that runs the ledger alone, and has no outboxes. */
export function createLedgerReader({
  ledger,
  exports,
}: Pick<BackgroundParts, "ledger" | "exports">): ReadBackground {
  const outboxes = { mail: undefined, webhook: undefined, settlement: undefined };
  const readLedger = ledgerReader(ledger);
  const readExported = exports && exportReader(exports);
  return async () => {
    const [state, exported] = await Promise.all([readLedger(), readExported?.()]);
    return { outboxes, ...state, exports: exported };
  };
}

/** What a scrape reads of the exports; `undefined` when the ledger is remote. */
export function readExports({ local, exports }: Pick<RunningLedger, "local" | "exports">) {
  return local && exports && { counts: exports.counts, backlogs: () => local.exportBacklogs() };
}

function exportReader({ counts, backlogs }: ExportReadings) {
  const readBacklogs = bounded(backlogs);
  return async () => {
    const found = await readBacklogs();
    return { counts, backlogs: found?.map(({ name, lagsFromMs }) => ({ name, oldestAtMs: lagsFromMs })) };
  };
}

function ledgerReader(ledger: LedgerReads) {
  const readRollUps = bounded(() => ledger.rollUps());
  const readOpenHolds = bounded(() => readHolds(ledger));
  return async () => {
    const [rollUps, holds] = await Promise.all([readRollUps(), readOpenHolds()]);
    return { rollUps, holds };
  };
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

/** Counts the credits of plans that are decided and not booked, by an index of these alone. */
async function readUnbooked({ db, tables: { planGrants } }: Database): Promise<Backlog> {
  const [row] = await db
    .select({ entries: count(), oldestAtMs: min(planGrants.decidedAtMs) })
    .from(planGrants)
    .where(isNull(planGrants.bookedAtMs));
  return { entries: row?.entries ?? 0, oldestAtMs: row?.oldestAtMs ?? undefined };
}

/**
 * Bounds a reading: a failed or late one is `undefined`. While one runs, later ones wait for it, so that readings
 * of a database that hangs do not pile up.
 */
function bounded<Value>(read: () => Promise<Value>): () => Promise<Value | undefined> {
  let running: Promise<Value | undefined> | undefined;
  const forget = () => {
    running = undefined;
  };
  return () => {
    running ??= read()
      .catch(() => undefined)
      .finally(forget);
    return within(READ_MS_MAX, running, () => undefined);
  };
}
