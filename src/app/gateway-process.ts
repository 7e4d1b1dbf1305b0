import { sealSharedSecrets } from "../accounts/shared-secret.ts";
import type { Config, LiveConfig, LoadedConfig } from "../config/config.ts";
import { findLowCallsCap } from "../config/relaunch.ts";
import type { Database } from "../db/database.ts";
import { describeLocation } from "../db/location.ts";
import { VERSION } from "../domain/version.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { describeRedis } from "../limiter/redis/location.ts";
import { waitAtMost } from "../platform.ts";
import { createLog, type Log, logStrayFaults } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { findOpenFiles } from "../telemetry/open-files.ts";
import { startConfigReload } from "./config-reload.ts";
import { prepareFirstStart } from "./first-start.ts";
import { listen } from "./gateway-listener.ts";
import { createParts, EXPORT_MS_MAX, startTraces } from "./gateway-parts.ts";
import { followSecrets, type SecretSettings } from "./live-secrets.ts";
import { type Hangups, untilSignal } from "./signals.ts";
import type { RunningConsole } from "./start-console.ts";
import { startLedger } from "./start-ledger.ts";
import { startLimiter } from "./start-limiter.ts";
import { warnOfKnownModels, warnOfPrices } from "./warnings.ts";

/** A limit of open files below this is reported: with it, the account limit of 500 requests is a quarter. */
const FILES_USUAL_MAX = 4_096;
const FEW_FILES = `few open files allowed: raise the hard limit to ${FILES_USUAL_MAX} or more`;

/** Runs a gateway that follows its configuration file. Resolves when a signal has ended it. */
export async function runGatewayProcess(loaded: LoadedConfig, hangups: Hangups): Promise<void> {
  const { config } = loaded;
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const ended = untilSignal();
  const gateway = await startGateway(config, log);
  const { publicUrl } = gateway.console.parts.settings;
  const notice = await prepareFirstStart({ ...gateway, publicUrl }, config);
  // Printed on stderr: stdout is the log, which must not hold a key.
  if (notice) process.stderr.write(notice);
  const { url, ledgerAddress, metricsAddress: metrics } = gateway;
  const ledger = config.ledger.remote?.address ?? ledgerAddress;
  const database = describeLocation(config.database);
  const redis = config.limiter.redis && describeRedis(config.limiter.redis);
  log.info({ url, ledger, database, redis, metrics, models: config.models.length }, "listening");
  const cap = findLowCallsCap();
  if (cap) log.warn(cap, "upstream concurrency capped");
  const { max: files = Number.POSITIVE_INFINITY } = findOpenFiles();
  if (files < FILES_USUAL_MAX) log.warn({ files }, FEW_FILES);
  warnOfPrices(config.models, log);
  warnOfKnownModels(config, log);
  gateway.console.warmUp();
  const reloads = startConfigReload({ loaded, apply: gateway.apply, log });
  hangups.listen(reloads.request);
  log.info({ signal: await ended }, "draining");
  reloads.close();
  await gateway.stop();
  log.info({}, "stopped");
  await log.close();
  // A mail server or a receiver of webhooks in the middle of a call would keep the process alive.
  process.exit();
}

/** A gateway that accepts requests. */
export interface RunningGateway {
  /** "http://127.0.0.1:8080" */
  readonly url: string;
  /** Address of the ledger's gRPC service, "127.0.0.1:50051"; `undefined` when it is not served. */
  readonly ledgerAddress: string | undefined;
  /** Address of the metrics, "127.0.0.1:9464"; `undefined` when they are not served. */
  readonly metricsAddress: string | undefined;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly console: RunningConsole;
  /**
   * Applies another configuration to later requests, and its secrets to later connections. A running request
   * keeps the one that it began with.
   */
  apply(config: LiveConfig & Partial<SecretSettings>): void;
  /**
   * Reports that it drains, and accepts requests for the drain delay. Running ones then finish, or are aborted at
   * the drain limit. Resolves when all are settled and everything is closed.
   */
  stop(): Promise<void>;
}

/** Starts every part and listens. Rejects when the database, the data folder or a port cannot be used. */
export async function startGateway(started: Config, log: Log): Promise<RunningGateway> {
  const { config, renew } = followSecrets(started);
  const metrics = createMetrics({ version: VERSION, bun: Bun.version, role: "gateway" });
  const traces = await startTraces(config, { serviceName: "tollgate", log });
  metrics.watchLosses(() => ({ logLines: log.dropped ?? 0, spans: traces?.dropped ?? 0 }));
  const ledger = await startLedger(config, { log, metrics: metrics.ledger, traces });
  const { database } = ledger;
  await sealSharedSecrets(database).catch((fault: unknown) =>
    ledger.close().then(() => Promise.reject(fault)),
  );
  const limiter = await startLimiter(config.limiter, { database, log, metrics: metrics.limiter });
  const parts = createParts(config, { ledger, limiter, log, metrics, traces });
  const closeParts = async () => {
    await parts.close();
    await limiter.close();
    await Promise.all([ledger.close(), traces?.close(EXPORT_MS_MAX)]);
  };
  try {
    const listener = await listen(config, parts, { metrics, log });
    const stop = async () => {
      const { drainDelayMs = 0, drainMs } = parts.config();
      listener.announceStop();
      await Bun.sleep(drainDelayMs);
      await Promise.all([listener.stop(drainMs), waitAtMost(drainMs, ledger.stopServing())]);
      await closeParts();
    };
    return {
      ...listener,
      ledgerAddress: ledger.servedAt,
      database,
      ledger: ledger.ledger,
      apply(next) {
        renew(next);
        parts.apply(next);
        ledger.exports?.apply(next.exports ?? []);
      },
      stop,
    };
  } catch (error) {
    await closeParts();
    throw error;
  }
}
