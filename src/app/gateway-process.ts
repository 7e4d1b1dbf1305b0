import type { LoadedConfig } from "../config/config.ts";
import { findLowCallsCap } from "../config/relaunch.ts";
import { describeLocation } from "../db/location.ts";
import { describeRedis } from "../limiter/redis/location.ts";
import { createLog, logStrayFaults } from "../telemetry/log.ts";
import { findOpenFiles } from "../telemetry/open-files.ts";
import { startConfigReload } from "./config-reload.ts";
import { prepareFirstStart } from "./first-start.ts";
import { warnOfKnownModels } from "./known-warnings.ts";
import { warnOfPrices } from "./price-warnings.ts";
import { type Hangups, untilSignal } from "./signals.ts";
import { startGateway } from "./start-gateway.ts";

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
