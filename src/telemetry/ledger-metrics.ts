import { counter, type Family, Histogram, histogram, SHORT_SECONDS } from "./series.ts";

/** Counts the transactions of a local ledger. Called once per batch of commands. */
export interface LedgerMetrics {
  /** Counts a committed transaction; `ms` is without the sync of a SQLite log. */
  committed(commands: number, ms: number): void;
  /** Counts the sync of a SQLite log, which puts commits on disk. */
  synced(ms: number): void;
  /** Counts a transaction that failed, by the fault of its store. */
  failed(fault: string): void;
}

/** {@link LedgerMetrics} that can be printed. */
export interface CountedLedger extends LedgerMetrics {
  readonly families: readonly Family[];
}

/** Printed as 0 from the start. `busy` is usual where several processes share a SQLite file. */
const FAULTS = ["busy", "away", "unavailable", "rejected", "unknown"];
const BATCH_COMMANDS = Array.from({ length: 9 }, (_, index) => 2 ** index);

/** Counts in plain numbers until they are read. */
export function countLedger(): CountedLedger {
  const commands = new Histogram(BATCH_COMMANDS);
  const commits = new Histogram(SHORT_SECONDS);
  const syncs = new Histogram(SHORT_SECONDS);
  const faults = new Map(FAULTS.map((fault) => [fault, 0]));
  return {
    committed(count, ms) {
      commands.observe(count);
      commits.observe(ms / 1000);
    },
    synced(ms) {
      syncs.observe(ms / 1000);
    },
    failed(fault) {
      faults.set(fault, (faults.get(fault) ?? 0) + 1);
    },
    families: [
      histogram("tollgate_ledger_batch_commands", "Commands of a ledger transaction.", () => [
        [{}, commands],
      ]),
      histogram(
        "tollgate_ledger_commit_seconds",
        "Time of a ledger transaction from its begin to its commit, without the sync of a SQLite log.",
        () => [[{}, commits]],
      ),
      histogram(
        "tollgate_ledger_sync_seconds",
        "Time in which commits reached the disk, for SQLite; several commits share one.",
        () => [[{}, syncs]],
      ),
      counter(
        "tollgate_ledger_faults_total",
        "Ledger transactions that failed, by fault; most are tried again.",
        () => [...faults].map(([fault, count]) => [{ fault }, count]),
      ),
    ],
  };
}
