import type { LedgerProcessConfig, Loaded } from "../config/config.ts";
import { describeLocation } from "../db/location.ts";
import { VERSION } from "../domain/version.ts";
import { createLog, type Log, logStrayFaults } from "../telemetry/log.ts";
import { createLedgerMetrics, type LedgerProcessMetrics } from "../telemetry/metrics.ts";
import { type MetricsServer, serveMetrics } from "../telemetry/serve-metrics.ts";
import { createLedgerReader, readExports } from "./background-state.ts";
import { startLedgerReload } from "./config-reload.ts";
import { EXPORT_MS_MAX, startTraces } from "./gateway-parts.ts";
import { followStorageSecrets } from "./live-secrets.ts";
import { type Hangups, untilSignal } from "./signals.ts";
import { type RunningLedger, startLedger } from "./start-ledger.ts";

/** Runs the ledger's gRPC service in a process of its own. Resolves when a signal has ended it. */
export async function runLedgerProcess(loaded: Loaded<LedgerProcessConfig>, hangups: Hangups): Promise<void> {
  const { config, renew } = followStorageSecrets(loaded.config);
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const ended = untilSignal();
  const metrics = createLedgerMetrics({ version: VERSION, bun: Bun.version, role: "ledger" });
  const traces = await startTraces(config, { serviceName: "tollgate-ledger", log });
  const ledger = await startLedger(config, { log, metrics: metrics.ledger, traces });
  metrics.watchBackground(createLedgerReader({ ledger: ledger.ledger, exports: readExports(ledger) }));
  const metricsServer = await serveOrClose(config, { ledger, metrics, log });
  const addresses = { ledger: ledger.servedAt, metrics: metricsServer?.address };
  log.info({ ...addresses, database: describeLocation(config.database) }, "listening");
  const apply = (next: LedgerProcessConfig) => {
    renew(next);
    ledger.exports?.apply(next.exports ?? []);
  };
  const reloads = startLedgerReload({ loaded, apply, log });
  hangups.listen(reloads.request);
  log.info({ signal: await ended }, "draining");
  reloads.close();
  await ledger.close();
  await metricsServer?.stop();
  await traces?.close(EXPORT_MS_MAX);
  log.info({}, "stopped");
  await log.close();
  // A trace receiver in the middle of an export would keep the process alive.
  process.exit();
}

interface LedgerProcess {
  readonly ledger: RunningLedger;
  readonly metrics: LedgerProcessMetrics;
  readonly log: Log;
}

/** Serves the metrics when configured. Rejects when their port is in use, and closes the ledger then. */
async function serveOrClose(
  { metricsListen }: LedgerProcessConfig,
  { ledger, metrics, log }: LedgerProcess,
): Promise<MetricsServer | undefined> {
  try {
    return metricsListen && serveMetrics({ metrics, listen: metricsListen, log });
  } catch (error) {
    await ledger.close();
    throw error;
  }
}
