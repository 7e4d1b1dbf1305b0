import { loadStorageConfig } from "../config/config.ts";
import { compactFile } from "../db/sqlite/compact.ts";
import { type RetentionReport, reportRetention } from "../ledger/retention/report.ts";
import { CommandError, type CommandResult } from "./command.ts";
import type { Storage } from "./storage.ts";

/** A gateway that has not renewed its row for so long is gone. */
const GONE_MS = 60_000;

export interface RetentionOptions {
  readonly receiptsDays: number;
}

/** Reports what a retention of so many days has dropped and would drop. Drops nothing. */
export async function runRetention(
  { database }: Storage,
  { receiptsDays }: RetentionOptions,
): Promise<CommandResult> {
  const report = await reportRetention(database, receiptsDays, Date.now());
  const json = {
    receipts_days: receiptsDays,
    receipts_from: printTime(report.clearedToMs),
    dropped_receipts: report.droppedReceipts,
    would_drop_before: report.boundaryMs === undefined ? null : printTime(report.boundaryMs),
    would_drop_receipts: report.dueReceipts,
    paused_until: printTime(report.pausedUntilMs),
    database_bytes: report.databaseBytes,
    free_bytes: report.freeBytes,
  };
  return { json, text: printReport(report, receiptsDays).join("\n") };
}

function printReport(report: RetentionReport, receiptsDays: number): readonly string[] {
  const { clearedToMs, droppedReceipts, boundaryMs, dueReceipts, pausedUntilMs } = report;
  return [
    droppedReceipts === 0
      ? "No receipt has been dropped."
      : `${droppedReceipts} receipts from before ${printTime(clearedToMs)} have been dropped.`,
    boundaryMs === undefined
      ? "Nothing would be dropped: usage is being summed up for the first time."
      : `Keeping ${receiptsDays} days would drop ${dueReceipts} receipts from before ${printTime(boundaryMs)}.`,
    ...(pausedUntilMs > 0
      ? [`The clock has jumped ahead: drops pause until ${printTime(pausedUntilMs)}.`]
      : []),
    `The database has ${mebibytes(report.databaseBytes)} MiB, ${mebibytes(report.freeBytes)} of them free for new rows.`,
  ];
}

function printTime(atMs: number): string | null {
  return atMs === 0 ? null : new Date(atMs).toISOString();
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

/** Writes a SQLite file anew without its free space. Fails while a gateway runs. */
export async function runCompact({ database }: Storage): Promise<CommandResult> {
  const { database: location } = loadStorageConfig();
  if (location.dialect !== "sqlite") {
    throw new CommandError(
      "Only SQLite files are compacted. In PostgreSQL, a dropped partition frees its space.",
    );
  }
  const gateways = await database.db.select().from(database.tables.gateways);
  if (gateways.some(({ seenAtMs }) => seenAtMs > Date.now() - GONE_MS)) {
    throw new CommandError("A gateway uses this file: stop it first. After a crash, wait a minute.");
  }
  const { bytesBefore, bytes } = compactFile(location.path);
  return {
    json: { bytes_before: bytesBefore, bytes },
    text: `The file had ${mebibytes(bytesBefore)} MiB and has ${mebibytes(bytes)} MiB.`,
  };
}
