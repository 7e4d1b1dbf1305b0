import { createAuthenticate } from "../accounts/authenticate.ts";
import { findEndedKeys } from "../accounts/keys.ts";
import { createBodies } from "../bodies/bodies.ts";
import { createCooperativeYield } from "../bodies/cooperative-yield.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { Config, LiveConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { createDemoUpstream } from "../demo/demo.ts";
import { VERSION } from "../domain/version.ts";
import { createCallerWatch } from "../gateway/caller-watch.ts";
import { createDeclineMemory } from "../gateway/decline.ts";
import type { Gateway, GatewaySettings } from "../gateway/gateway.ts";
import { createHeartbeats } from "../gateway/heartbeats.ts";
import { createHoldHealth } from "../gateway/hold-health.ts";
import { Shutdown } from "../gateway/shutdown.ts";
import { createBodyBudget } from "../http/body-budget.ts";
import { createRunningRequests } from "../http/http-parts.ts";
import { newRequestId } from "../http/identity.ts";
import { createIncomingBodies } from "../http/incoming-bodies.ts";
import { createReadiness } from "../http/readiness.ts";
import { type HttpServer, listen as listenHttp } from "../http/server.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { startRefusalRecorder } from "../refusals/recorder.ts";
import { type OpenSettlementOutbox, openSettlementOutbox } from "../settlement-outbox/outbox.ts";
import type { ReadBackground } from "../telemetry/background-metrics.ts";
import type { Log } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { serveMetrics } from "../telemetry/serve-metrics.ts";
import type { Traces } from "../telemetry/trace-export.ts";
import { SharedTimer, waitAtMost } from "../time.ts";
import { createTokenCounter } from "../tokens/count-tokens.ts";
import { createUpstreams, type Upstreams } from "../upstream/upstreams.ts";
import { createBackgroundReader, readExports } from "./background-state.ts";
import { followSecrets, type SecretSettings } from "./live-secrets.ts";
import { createReadinessChecks } from "./readiness-checks.ts";
import { type RunningConsole, startConsole } from "./start-console.ts";
import { type RunningLedger, startLedger } from "./start-ledger.ts";
import { type RunningLimiter, startLimiter } from "./start-limiter.ts";
import { createFollower, EXPORT_MS_MAX, startTraces } from "./start-traces.ts";

/** Delay before the counting worker loads: 100 ms of CPU that the first requests should not wait for. */
const WARM_UP_MS = 200;
/** Time that a request body still in transit gets when the drain begins. */
const BODY_GRACE_MS = 2_000;
/** Time that an aborted request gets, after the drain limit, to count its tokens (2 s) and send its end. */
const ABORT_MS = 3_000;
/** Time to settle it. With the default drain limit and the outbox's last replay, a stop takes under 30 s. */
const SETTLE_MS = 4_000;

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
  const limiter = await startLimiter(config.limiter, { database, log, metrics: metrics.limiter });
  const parts = createParts(config, { ledger, limiter, log, metrics, traces });
  const closeParts = async () => {
    await parts.close();
    await limiter.close();
    await Promise.all([ledger.close(), traces?.close(EXPORT_MS_MAX)]);
  };
  try {
    const listener = await listen(config, parts, { metrics, log });
    parts.warmUp();
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

interface Parts {
  /** The gateway under the latest configuration. */
  gateway(): Gateway;
  /** The latest configuration. */
  config(): LiveConfig;
  apply(config: LiveConfig): void;
  readonly database: Database;
  readonly outbox: Pick<OpenSettlementOutbox, "pending" | "oldestAtMs">;
  /** The ledger that runs here, or the connection to it. */
  readonly running: RunningLedger;
  /** Starts slow work that the first request does not need. */
  warmUp(): void;
  /** Aborts running requests. Each is settled for what it has used, and its client gets an error. */
  abortRequests(): void;
  /** Stops background work. Settlements that the ledger has not accepted stay in the outbox on disk. */
  close(): Promise<void>;
}

interface Foundation {
  readonly ledger: RunningLedger;
  readonly limiter: RunningLimiter;
  readonly metrics: Metrics;
  readonly traces: Traces | undefined;
  readonly log: Log;
}

function createParts(config: Config, { ledger: running, limiter, metrics, traces, log }: Foundation): Parts {
  const { database, ledger, instance } = running;
  const { requests } = metrics;
  const onDeclined = () => requests.settleFailed("replay_declined");
  const outbox = openSettlementOutbox({
    folder: config.dataFolder,
    ledger,
    log,
    onDeclined,
    owner: instance,
  });
  const heartbeats = createHeartbeats(ledger, config.holdTtlMs, log);
  const callers = createCallerWatch({ findEnded: (keyIds) => findEndedKeys(database, keyIds), log });
  const tokens = createTokenCounter();
  const cooperativeYield = createCooperativeYield();
  const bodies = createBodies(cooperativeYield);
  const clock = () => performance.now();
  const timer = new SharedTimer(clock);
  const refusals = startRefusalRecorder({ database, log });
  const shutdown = new Shutdown();
  const upstreamMetrics = metrics.upstream;
  const builtIn = [createDemoUpstream()];
  const upstreams = createUpstreams({ builtIn, metrics: upstreamMetrics, log, clock });
  const follow = createFollower(config, { traces, log, clock });
  const readLive = (live: LiveConfig): GatewaySettings => ({
    ...readLiveSettings(live, upstreams),
    tracing: follow(live),
  });
  let latest: LiveConfig = config;
  let gateway: Gateway = {
    ...readLive(config),
    authenticate: createAuthenticate({ database }),
    limiter: limiter.limiter,
    ledger,
    outbox,
    tokens,
    bodies,
    cooperativeYield,
    heartbeats,
    callers,
    declines: createDeclineMemory(clock),
    refusals,
    holdHealth: createHoldHealth({ ledger, log, newId: newRequestId }),
    holdTtlMs: config.holdTtlMs,
    clock,
    timer,
    log,
    metrics: upstreamMetrics,
    requestMetrics: requests,
    shutdown,
  };
  requests.announce(routesOf(config));
  return {
    gateway: () => gateway,
    config: () => latest,
    apply(next) {
      latest = next;
      gateway = { ...gateway, ...readLive(next) };
      requests.announce(routesOf(next));
    },
    database,
    outbox,
    running,
    warmUp: () => void setTimeout(tokens.start, WARM_UP_MS).unref(),
    abortRequests() {
      shutdown.abort();
      tokens.hurry();
    },
    async close() {
      heartbeats.close();
      callers.close();
      tokens.close();
      bodies.close();
      await refusals.close();
      await outbox.close();
    },
  };
}

/** Creates the settings of a gateway that a configuration reload replaces. */
function readLiveSettings(config: LiveConfig, allUpstreams: Upstreams): Omit<GatewaySettings, "tracing"> {
  const { models, upstreams, keyLimits, accountLimits, clientDisconnect } = config;
  return {
    catalog: createCatalog(models),
    upstreams: allUpstreams.renew(upstreams),
    keyLimits,
    accountLimits,
    clientDisconnect,
  };
}

/** The routes that requests may take, for their metrics. */
function routesOf({ models }: LiveConfig) {
  return models.flatMap(({ id, routes, outputTokensMax }) =>
    routes.map(({ upstream }) => ({ model: id, upstream, isEmbedding: outputTokensMax === 0 })),
  );
}

/** Serves requests and metrics. Rejects when a port cannot be used. */
async function listen(config: Config, parts: Parts, { metrics, log }: { metrics: Metrics; log: Log }) {
  const { database, outbox, running } = parts;
  const { ledger } = parts.gateway();
  const background = createBackgroundReader({ database, ledger, outbox, exports: readExports(running) });
  metrics.watchBackground(background);
  const http = await serveRequests(config, parts, { metrics, background });
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

interface Readings {
  readonly metrics: Metrics;
  readonly background: ReadBackground;
}

async function serveRequests(config: Config, parts: Parts, readings: Readings) {
  const running = createRunningRequests();
  const incomingBodies = createIncomingBodies();
  const bodyBudget = createBodyBudget({
    bytesMax: config.bodyBytesInFlightMax,
    accountBytesMax: config.accountBodyBytesMax,
  });
  let isDraining = false;
  const { gateway, database } = parts;
  const { ledger, limiter, holdHealth, log } = gateway();
  const { outbox } = parts;
  const { dataFolder } = config;
  const checks = createReadinessChecks({ database, ledger, holdHealth, limiter, outbox, dataFolder });
  const readiness = createReadiness(checks, { onChange: (failed) => logReadiness(log, failed) });
  const corsOrigins = () => parts.config().corsOrigins;
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
  };
  const server = await listenOrClose(() => listenHttp(http, config), console);
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
    await console.close();
    await waitAtMost(SETTLE_MS, running.idle());
  };
  return { url: server.url, console, announceStop, stop };
}

function logReadiness(log: Log, failed: readonly string[]): void {
  if (failed.length > 0) log.warn({ failed }, "gateway not ready");
  else log.info({}, "gateway ready again");
}

/** A port that is taken leaves none of the console's jobs on the database, which is closed next. */
async function listenOrClose(listening: () => HttpServer, console: RunningConsole): Promise<HttpServer> {
  try {
    return listening();
  } catch (error) {
    await console.close();
    throw error;
  }
}
