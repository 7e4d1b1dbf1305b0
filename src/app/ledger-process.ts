import type { LedgerProcessConfig, Loaded } from "../config/config.ts";
import { describeLocation } from "../db/location.ts";
import { createLog, logStrayFaults } from "../telemetry/log.ts";
import { startLedgerReload } from "./config-reload.ts";
import { followStorageSecrets } from "./live-secrets.ts";
import { type Hangups, untilSignal } from "./signals.ts";
import { startLedger } from "./start-ledger.ts";

/** Runs the ledger's gRPC service in a process of its own. Resolves when a signal has ended it. */
export async function runLedgerProcess(loaded: Loaded<LedgerProcessConfig>, hangups: Hangups): Promise<void> {
  const { config, renew } = followStorageSecrets(loaded.config);
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const ended = untilSignal();
  const ledger = await startLedger(config, log);
  log.info({ ledger: ledger.servedAt, database: describeLocation(config.database) }, "listening");
  const reloads = startLedgerReload({ loaded, apply: renew, log });
  hangups.listen(reloads.request);
  log.info({ signal: await ended }, "draining");
  reloads.close();
  await ledger.close();
  log.info({}, "stopped");
  await log.close();
}
