import type { LoadedConfig } from "../config/config.ts";
import { findLowCallsCap } from "../config/relaunch.ts";
import { describeLocation } from "../db/location.ts";
import { describeRedis } from "../limiter/redis/location.ts";
import { createLog } from "../telemetry/log.ts";
import { startConfigReload } from "./config-reload.ts";
import { prepareFirstStart } from "./first-start.ts";
import { logStrayFaults, untilSignal } from "./log-stray-faults.ts";
import type { Hangups } from "./signals.ts";
import { startGateway } from "./start-gateway.ts";

/** Runs until a signal ends it: the gateway as a process of its own, which follows its configuration file. */
export async function serve(loaded: LoadedConfig, hangups: Hangups): Promise<void> {
  const { config } = loaded;
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const ended = untilSignal();
  const tollgate = await startGateway(config, log);
  const { url, ledgerAddress, metricsAddress: metrics } = tollgate;
  const ledger = config.ledger.remote?.address ?? ledgerAddress;
  const database = describeLocation(config.database);
  const redis = config.limiter.redis && describeRedis(config.limiter.redis);
  log.info({ url, ledger, database, redis, metrics, models: config.models.length }, "listening");
  const cap = findLowCallsCap();
  if (cap) log.warn(cap, "no more upstream calls than this run at once, others wait");
  const welcome = await prepareFirstStart(tollgate, config);
  // On stderr, because stdout is the log, and a log must not hold a key.
  if (welcome) process.stderr.write(welcome);
  const reloads = startConfigReload({ loaded, apply: tollgate.apply, log });
  hangups.listen(reloads.request);
  log.info({ signal: await ended }, "draining");
  reloads.close();
  await tollgate.stop();
  log.info({}, "stopped");
  await log.close();
}
