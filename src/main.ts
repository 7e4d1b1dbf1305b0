import { createCatalog } from "./catalog/catalog.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/database.ts";
import { describeLocation } from "./db/location.ts";
import { waitAtMost } from "./domain/within.ts";
import { welcomeFirstStart } from "./first-start.ts";
import type { Gateway, Offer } from "./gateway/gateway.ts";
import { createHeartbeats } from "./gateway/heartbeats.ts";
import { createRefusalMemory } from "./gateway/refusal-memory.ts";
import { createBodyBudget } from "./http/body-budget.ts";
import { createReadiness } from "./http/readiness.ts";
import { createRunningRequests } from "./http/running-requests.ts";
import { listen as serveHttp } from "./http/serve.ts";
import { type KeptBooks, keepBooks } from "./keep-books.ts";
import { type KeptLimits, keepLimits } from "./keep-limits.ts";
import { createAuthenticate } from "./keys/authenticate.ts";
import { openJournal } from "./ledger/journal.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { describeRedis } from "./limiter/redis/location.ts";
import { logStrayFaults, untilSignal } from "./process.ts";
import { createLog, type Log } from "./telemetry/log.ts";
import { createMetrics, type Metrics } from "./telemetry/metrics.ts";
import { serveMetrics } from "./telemetry/serve-metrics.ts";
import { createTokenCounter } from "./tokens/count-tokens.ts";
import { createDemoUpstream } from "./upstream/demo.ts";
import { createHttpUpstream } from "./upstream/http-upstream.ts";

/** What a cut request still gets to be settled in, after the drain limit. */
const CUT_MS = 5_000;

/** A gateway that listens. */
export interface Tollgate {
  /** "http://127.0.0.1:8080" */
  readonly url: string;
  /** Where its ledger is served, "127.0.0.1:50051"; `undefined` is nowhere. */
  readonly ledgerAddress: string | undefined;
  /** Where its metrics are served, "127.0.0.1:9464"; `undefined` is nowhere. */
  readonly metricsAddress: string | undefined;
  readonly database: Database;
  readonly ledger: Ledger;
  /** Takes no more requests, lets running ones finish or cuts them at the drain limit, settles all, closes. */
  stop(): Promise<void>;
}

/** Puts the parts together and listens. Rejects when the database, the data folder or a port cannot be had. */
export async function startTollgate(config: Config, log: Log): Promise<Tollgate> {
  const metrics = createMetrics();
  const books = await keepBooks(config, log);
  const { database, ledger, servedAt: ledgerAddress } = books;
  const limits = await keepLimits(config.limiter, { database, log, metrics: metrics.limiter });
  const parts = createParts(config, { books, limits, log });
  const closeParts = async () => {
    await parts.close();
    await limits.close();
    await books.close();
  };
  try {
    const served = listen(config, parts, { metrics, log });
    const stop = async () => {
      await Promise.all([served.stop(), waitAtMost(config.drainMs, books.stopServing())]);
      await closeParts();
    };
    return { ...served, ledgerAddress, database, ledger, stop };
  } catch (error) {
    await closeParts();
    throw error;
  }
}

/** Serves requests and metrics. Throws when a port cannot be had. */
function listen(config: Config, parts: Parts, { metrics, log }: { metrics: Metrics; log: Log }) {
  const http = serveRequests(config, parts);
  try {
    const { metricsListen } = config;
    const served = metricsListen && serveMetrics({ metrics, listen: metricsListen, log });
    const stop = async () => {
      await http.stop();
      await served?.stop();
    };
    return { url: http.url, metricsAddress: served?.address, stop };
  } catch (error) {
    void http.stop();
    throw error;
  }
}

function serveRequests({ host, port, bodyBytesInFlightMax, drainMs }: Config, { gateway, database }: Parts) {
  const running = createRunningRequests();
  const bodyBudget = createBodyBudget(bodyBytesInFlightMax);
  let isDraining = false;
  const { ledger, limiter } = gateway();
  const isUp = createReadiness([database.ping, ledger.ping, limiter.ping]);
  const isReady = async () => !isDraining && isUp();
  const server = serveHttp({ gateway, bodyBudget, running, isReady }, { host, port });
  const stop = async () => {
    isDraining = true;
    await waitAtMost(drainMs, Promise.all([server.stop(), running.idle()]));
    await server.stop(true);
    await waitAtMost(CUT_MS, running.idle());
  };
  return { url: server.url.origin, stop };
}

interface Parts {
  /** As the latest configuration has it. */
  gateway(): Gateway;
  readonly database: Database;
  /** Ends what runs by itself, and leaves on disk what the ledger has not taken. */
  close(): Promise<void>;
}

interface Kept {
  readonly books: KeptBooks;
  readonly limits: KeptLimits;
  readonly log: Log;
}

function createParts(config: Config, { books: { database, ledger }, limits, log }: Kept): Parts {
  const journal = openJournal({ folder: config.dataFolder, ledger, log });
  const heartbeats = createHeartbeats(ledger, config.holdTtlMs, log);
  const tokens = createTokenCounter();
  const clock = () => performance.now();
  const gateway: Gateway = {
    ...createOffer(config),
    authenticate: createAuthenticate({ database }),
    limiter: limits.limiter,
    ledger,
    journal,
    tokens,
    heartbeats,
    refusals: createRefusalMemory(clock),
    holdTtlMs: config.holdTtlMs,
    clock,
    log,
  };
  const close = async () => {
    heartbeats.close();
    tokens.close();
    await journal.close();
  };
  return { gateway: () => gateway, database, close };
}

/** Runs until a signal ends it: the gateway as a process of its own. */
export async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const ended = untilSignal();
  const tollgate = await startTollgate(config, log);
  const { url, ledgerAddress, metricsAddress: metrics } = tollgate;
  const ledger = config.ledger.remote?.address ?? ledgerAddress;
  const database = describeLocation(config.database);
  const redis = config.limiter.redis && describeRedis(config.limiter.redis);
  log.info({ url, ledger, database, redis, metrics, models: config.models.length }, "listening");
  const welcome = await welcomeFirstStart(tollgate, config);
  // On stderr, because stdout is the log, and a log must not hold a key.
  if (welcome) process.stderr.write(welcome);
  log.info({ signal: await ended }, "draining");
  await tollgate.stop();
  log.info({}, "stopped");
  log.close();
}

function createOffer({ models, upstreams, keyLimits, accountLimits }: Config): Offer {
  const all = [createDemoUpstream(), ...upstreams.map(createHttpUpstream)];
  return {
    catalog: createCatalog(models),
    upstreams: new Map(all.map((upstream) => [upstream.name, upstream])),
    keyLimits,
    accountLimits,
  };
}
