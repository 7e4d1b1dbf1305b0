import type { LedgerProcessConfig } from "../config/config.ts";
import { allowShrinking } from "../db/sqlite/compact.ts";
import { startSweeper } from "../ledger/engine/sweeper.ts";
import { startRetention } from "../ledger/retention/runner.ts";
import { startRollUps } from "../ledger/roll-ups/runner.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { type RunningExports, startExports } from "./start-exports.ts";
import type { Storage } from "./storage.ts";

/** The work in the background of a process with a local ledger. */
export interface LedgerJobs {
  readonly exports: RunningExports;
  /** Resolves when every job has ended its step. */
  stop(): Promise<void>;
}

/**
 * Starts the sweeper of expired holds, the roll-ups and exports of usage, and the retention of receipts. Returns
 * `undefined` when the ledger is remote: its own processes do this work.
 */
export function startLedgerJobs(
  storage: Storage,
  config: LedgerProcessConfig,
  log: Log,
): LedgerJobs | undefined {
  const { local: ledger } = storage;
  const { database, exports: exported = [] } = config;
  if (!ledger) {
    if (exported.length > 0) log.warn({}, "usage exports run with the ledger of LEDGER_URL, not here");
    return undefined;
  }
  const logFault = (event: string) => (fault: unknown) => log.error(describeFault(fault), event);
  const exports = startExports(database, exported, log);
  const jobs = [
    startSweeper({ ledger, onError: logFault("sweep failed") }),
    startRollUps({ ledger, onError: logFault("usage roll-up failed") }),
    keepReceipts(storage, config, log),
  ];
  const stop = async () => {
    await Promise.all([...jobs.map((job) => job?.stop()), exports.close()]);
  };
  return { exports, stop };
}

/** Drops old receipts in the background. Returns `undefined` when all are kept. */
function keepReceipts({ local, database }: Storage, { receiptsDays }: LedgerProcessConfig, log: Log) {
  if (!local || receiptsDays === undefined) return undefined;
  if (database.dialect === "sqlite" && !allowShrinking(database.sqlite.path)) {
    log.warn({}, "free space of dropped receipts is kept for new ones, until tollgate compact was run");
  }
  return startRetention({
    ledger: local,
    policy: { receiptsDays },
    onRun({ receipts, bytes, clearedToMs, stopped }) {
      const run = { receipts, bytes, receiptsFrom: new Date(clearedToMs).toISOString() };
      if (stopped) log.error({ ...run, reason: stopped }, "retention stopped");
      else log.info(run, "old receipts dropped");
    },
    onError: (fault) => log.error(describeFault(fault), "retention failed"),
  });
}
