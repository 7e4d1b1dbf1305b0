import type { LedgerProcessConfig } from "../config/config.ts";
import { describeLocation } from "../db/location.ts";
import { createLog } from "../telemetry/log.ts";
import { logStrayFaults, untilSignal } from "./log-stray-faults.ts";
import type { Hangups } from "./signals.ts";
import { startLedger } from "./start-ledger.ts";

/** Runs until a signal ends it: the ledger's gRPC service as a process of its own. */
export async function serveLedgerAlone(config: LedgerProcessConfig, hangups: Hangups): Promise<void> {
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const ended = untilSignal();
  hangups.listen(() => log.info({}, "SIGHUP changes nothing here: the ledger's settings need a restart"));
  const books = await startLedger(config, log);
  log.info({ ledger: books.servedAt, database: describeLocation(config.database) }, "listening");
  log.info({ signal: await ended }, "draining");
  await books.close();
  log.info({}, "stopped");
  await log.close();
}
