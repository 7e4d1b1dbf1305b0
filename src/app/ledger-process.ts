import type { LedgerProcessConfig } from "../config/config.ts";
import { describeLocation } from "../db/location.ts";
import { createLog, logStrayFaults } from "../telemetry/log.ts";
import { type Hangups, untilSignal } from "./signals.ts";
import { startLedger } from "./start-ledger.ts";

/** Runs the ledger's gRPC service in a process of its own. Resolves when a signal has ended it. */
export async function runLedgerProcess(config: LedgerProcessConfig, hangups: Hangups): Promise<void> {
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const ended = untilSignal();
  hangups.listen(() => log.info({}, "SIGHUP ignored, ledger settings need a restart"));
  const ledger = await startLedger(config, log);
  log.info({ ledger: ledger.servedAt, database: describeLocation(config.database) }, "listening");
  log.info({ signal: await ended }, "draining");
  await ledger.close();
  log.info({}, "stopped");
  await log.close();
}
