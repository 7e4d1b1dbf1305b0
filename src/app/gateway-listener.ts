import { createFindEndedKeys } from "../accounts/keys/ended-keys.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { createCallerWatch } from "../gateway/caller-watch.ts";
import type { HoldHealth } from "../gateway/hold-health.ts";
import { createRunningRequests } from "../http/http-parts.ts";
import { createBodyBudget, createIncomingBodies } from "../http/incoming-bodies.ts";
import { type Check, type CheckResult, createReadiness, type Readiness } from "../http/readiness.ts";
import { type HttpServer, listen as listenHttp } from "../http/server.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Limiter } from "../limiter/limiter.ts";
import { waitAtMost } from "../platform.ts";
import { checkOutboxDisk } from "../settlement-outbox/folder.ts";
import type { ReadBackground } from "../telemetry/background-metrics.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { serveMetrics } from "../telemetry/serve-metrics.ts";
import { createBackgroundReader, readExports } from "./background-state.ts";
import type { GatewayParts } from "./gateway-parts.ts";
import { type RunningConsole, startConsole } from "./start-console.ts";

/** Time that a request body still in transit gets when the drain begins. */
const BODY_GRACE_MS = 2_000;
/** Time that an aborted request gets, after the drain limit, to count its tokens (2 s) and send its end. */
const ABORT_MS = 3_000;
/** Time to settle it. With the default drain limit and the outbox's last replay, a stop takes under 30 s. */
const SETTLE_MS = 4_000;

/** Idle WebSockets of a key that has ended only take memory, so that a slow look is enough. */
const SOCKET_CALLERS_EVERY_MS = 5_000;

/** Serves requests and metrics. Rejects when a port cannot be used. */
export async function listen(
  config: Config,
  parts: GatewayParts,
  { metrics, log }: { metrics: Metrics; log: Log },
) {
  const { database, outbox, running } = parts;
  const { ledger } = parts.gateway();
  const readiness = watchReadiness(config, parts, log);
  const exports = readExports(running);
  const background = createBackgroundReader({ database, ledger, outbox, exports, readiness });
  metrics.watchBackground(background);
  const http = await serveRequests(config, parts, { metrics, background, readiness });
  try {
    const { metricsListen } = config;
    const served = metricsListen && serveMetrics({ metrics, listen: metricsListen, log });
    const stop = async (drainMs: number) => {
      await http.stop(drainMs);
      await served?.stop();
    };
    const { url, console, announceStop } = http;
    return { url, console, metricsAddress: served?.address, announceStop, stop };
  } catch (error) {
    await http.stop(0);
    throw error;
  }
}

/** Creates the checks of /readyz. Probes and scrapes share their results. */
function watchReadiness({ dataFolder }: Config, { database, outbox, gateway }: GatewayParts, log: Log) {
  const { ledger, limiter, holdHealth } = gateway();
  const checks = createReadinessChecks({ database, ledger, holdHealth, limiter, outbox, dataFolder });
  return createReadiness(checks, { onChange: (failed) => logReadiness(log, failed) });
}

interface Readings {
  readonly metrics: Metrics;
  readonly background: ReadBackground;
  readonly readiness: () => Promise<Readiness>;
}

async function serveRequests(config: Config, parts: GatewayParts, { readiness, ...readings }: Readings) {
  const incomingBodies = createIncomingBodies();
  const bodyBudget = createBodyBudget({
    bytesMax: config.bodyBytesInFlightMax,
    accountBytesMax: config.accountBodyBytesMax,
  });
  let isDraining = false;
  const { gateway, database } = parts;
  const { ledger, files, log } = gateway();
  const running = createRunningRequests({ files, log });
  const { outbox } = parts;
  const corsOrigins = () => parts.config().corsOrigins;
  const socketCallers = createCallerWatch({
    findEnded: createFindEndedKeys(database),
    log,
    everyMs: SOCKET_CALLERS_EVERY_MS,
  });
  const url = () => server.url;
  const console = startConsole(config, {
    database,
    ledger,
    gateway,
    outbox,
    running,
    config: parts.config,
    url,
    ...readings,
    log,
  });
  const http = {
    gateway,
    bodyBudget,
    incomingBodies,
    running,
    corsOrigins,
    readiness,
    isDraining: () => isDraining,
    console: console.entry,
    socketBounds: config.sockets,
    socketCallers,
  };
  const address = `${config.host}:${config.port}`;
  const server = await listenOrClose(() => listenHttp(http, config), address, console);
  readings.metrics.watchSockets(server.sockets);
  const announceStop = () => {
    isDraining = true;
    server.closeAfterResponses();
  };
  const stop = async (drainMs: number) => {
    isDraining = true;
    console.beginStop();
    incomingBodies.close(Math.min(BODY_GRACE_MS, drainMs));
    const ended = Promise.all([server.drain(), running.idle()]);
    await waitAtMost(drainMs, ended);
    parts.abortRequests();
    await waitAtMost(ABORT_MS, ended);
    await server.close();
    socketCallers.close();
    await console.close();
    await waitAtMost(SETTLE_MS, running.idle());
    running.close();
  };
  return { url: server.url, console, announceStop, stop };
}

function logReadiness(log: Log, failed: readonly string[]): void {
  if (failed.length > 0) log.warn({ failed }, "gateway not ready");
  else log.info({}, "gateway ready again");
}

/** A port that is taken leaves none of the console's jobs on the database, which is closed next. */
async function listenOrClose(listening: () => HttpServer, address: string, console: RunningConsole) {
  try {
    return listening();
  } catch (cause) {
    await console.close();
    const error = new Error(`Cannot serve requests at ${address}`, { cause });
    throw Object.assign(error, { name: "HttpListenError" });
  }
}

interface CheckedParts {
  readonly database: Database;
  readonly ledger: Ledger;
  readonly holdHealth: HoldHealth;
  readonly limiter: Limiter;
  readonly outbox: { pending(): number };
  readonly dataFolder: string;
}

/** Returns the checks of /readyz, by part. */
function createReadinessChecks(parts: CheckedParts): Readonly<Record<string, Check>> {
  const { database, ledger, holdHealth, limiter, outbox, dataFolder } = parts;
  return {
    database: () => database.ping().then(succeed),
    ledger: () => ledger.ping().then(() => holdHealth.check().then(succeed, () => fail("holds_fail"))),
    limiter: () => checkLimiter(limiter),
    outbox: once(async () => {
      const { freeBytes, problem } = await checkOutboxDisk(dataFolder);
      return { ok: !problem, reason: problem, entries: outbox.pending(), free_bytes: freeBytes };
    }),
  };
}

const succeed = (): CheckResult => ({ ok: true });
const fail = (reason: string): CheckResult => ({ ok: false, reason });

/** A gateway that counts alone is ready: `local` is what the configuration asks for while Redis is away. */
async function checkLimiter(limiter: Limiter): Promise<CheckResult> {
  const { backend, mode } = await limiter.status();
  if (backend === "memory") return { ok: true, mode: "local", reason: "no_redis_configured" };
  if (mode === "shared") return { ok: true, mode: "redis" };
  return { ok: mode === "local", mode: mode === "local" ? "local" : "deny", reason: "redis_away" };
}

/** Runs a check once at a time: a disk that hangs must not collect waiting threads. */
function once(check: Check): Check {
  let running: Promise<CheckResult> | undefined;
  return () => {
    running ??= check().finally(() => {
      running = undefined;
    });
    return running;
  };
}
