import { createAuthenticate } from "../accounts/authenticate.ts";
import { findEndedKeys } from "../accounts/find-ended-keys.ts";
import { createBodies } from "../bodies/bodies.ts";
import { createLoopShare } from "../bodies/loop-share.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { Config, LiveConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { createCallerWatch } from "../gateway/caller-watch.ts";
import type { Gateway, Offer } from "../gateway/gateway.ts";
import { createHeartbeats } from "../gateway/heartbeats.ts";
import { createHoldHealth } from "../gateway/hold-health.ts";
import { createRefusalMemory } from "../gateway/refusal-memory.ts";
import { createBodyBudget } from "../http/body-budget.ts";
import { createIncomingBodies } from "../http/incoming-bodies.ts";
import { createReadiness } from "../http/readiness.ts";
import { newRequestId } from "../http/request-id.ts";
import { createRunningRequests } from "../http/running-requests.ts";
import { listen as serveHttp } from "../http/serve.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openSettlementOutbox } from "../settlement-outbox/outbox.ts";
import type { Log } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { serveMetrics } from "../telemetry/serve-metrics.ts";
import type { UpstreamMetrics } from "../telemetry/upstream-metrics.ts";
import { waitAtMost } from "../time.ts";
import { createTokenCounter } from "../tokens/count-tokens.ts";
import { createUpstreams, type Upstreams } from "../upstream/upstreams.ts";
import { type KeptBooks, keepBooks } from "./start-ledger.ts";
import { type KeptLimits, keepLimits } from "./start-limiter.ts";

/** The counting worker loads for a tenth of a second, which shall not be the first of the first requests. */
const WARM_UP_MS = 200;
/** How long a body that is on its way when the drain begins may still take. */
const BODY_GRACE_MS = 2_000;
/** What a cut request gets, after the drain limit, to be counted (at most 2 s) and told so in. */
const TELL_MS = 3_000;
/** And to be settled in. With the default drain limit and the outbox's last replay that makes less than 30 s. */
const CUT_MS = 4_000;

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
  /** Serves what another configuration says from now on; a request goes on with what it came in to. */
  apply(config: LiveConfig): void;
  /** Takes no more requests, lets running ones finish or cuts them at the drain limit, settles all, closes. */
  stop(): Promise<void>;
}

/** Puts the parts together and listens. Rejects when the database, the data folder or a port cannot be had. */
export async function startTollgate(config: Config, log: Log): Promise<Tollgate> {
  const metrics = createMetrics();
  const books = await keepBooks(config, log);
  const { database, ledger, servedAt: ledgerAddress } = books;
  const limits = await keepLimits(config.limiter, { database, log, metrics: metrics.limiter });
  const parts = createParts(config, { books, limits, log, metrics: metrics.upstream });
  const closeParts = async () => {
    await parts.close();
    await limits.close();
    await books.close();
  };
  try {
    const served = listen(config, parts, { metrics, log });
    parts.listening();
    const stop = async () => {
      const { drainMs } = parts.live();
      await Promise.all([served.stop(drainMs), waitAtMost(drainMs, books.stopServing())]);
      await closeParts();
    };
    return { ...served, ledgerAddress, database, ledger, apply: parts.offer, stop };
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
    const stop = async (drainMs: number) => {
      await http.stop(drainMs);
      await served?.stop();
    };
    return { url: http.url, metricsAddress: served?.address, stop };
  } catch (error) {
    void http.stop(0);
    throw error;
  }
}

function serveRequests(config: Config, parts: Parts) {
  const running = createRunningRequests();
  const incomingBodies = createIncomingBodies();
  const bodyBudget = createBodyBudget({
    bytesMax: config.bodyBytesInFlightMax,
    accountBytesMax: config.accountBodyBytesMax,
  });
  let isDraining = false;
  const { gateway, database } = parts;
  const { ledger, limiter, holdHealth } = gateway();
  const isUp = createReadiness([database.ping, ledger.ping, limiter.ping, holdHealth.check]);
  const isReady = async () => !isDraining && isUp();
  const corsOrigins = () => parts.live().corsOrigins;
  const http = { gateway, bodyBudget, incomingBodies, running, corsOrigins, isReady };
  const server = serveHttp(http, config);
  const stop = async (drainMs: number) => {
    isDraining = true;
    incomingBodies.close(Math.min(BODY_GRACE_MS, drainMs));
    const ended = Promise.all([server.drain(), running.idle()]);
    await waitAtMost(drainMs, ended);
    parts.cut();
    await waitAtMost(TELL_MS, ended);
    await server.close();
    await waitAtMost(CUT_MS, running.idle());
  };
  return { url: server.url, stop };
}

interface Parts {
  /** As the latest configuration has it. */
  gateway(): Gateway;
  live(): LiveConfig;
  offer(config: LiveConfig): void;
  readonly database: Database;
  /** Starts what takes its time and is not needed by the first request. */
  listening(): void;
  /** Ends running requests as they stand: they are settled and told so. */
  cut(): void;
  /** Ends what runs by itself, and leaves on disk what the ledger has not taken. */
  close(): Promise<void>;
}

interface Kept {
  readonly books: KeptBooks;
  readonly limits: KeptLimits;
  readonly metrics: UpstreamMetrics;
  readonly log: Log;
}

function createParts(config: Config, { books: { database, ledger }, limits, metrics, log }: Kept): Parts {
  const outbox = openSettlementOutbox({ folder: config.dataFolder, ledger, log });
  const heartbeats = createHeartbeats(ledger, config.holdTtlMs, log);
  const callers = createCallerWatch({ findEnded: (keyIds) => findEndedKeys(database, keyIds), log });
  const tokens = createTokenCounter();
  const share = createLoopShare();
  const bodies = createBodies(share);
  const clock = () => performance.now();
  const shutdown = new AbortController();
  const upstreams = createUpstreams({ metrics, log, clock });
  let gateway: Gateway = {
    ...createOffer(config, upstreams),
    authenticate: createAuthenticate({ database }),
    limiter: limits.limiter,
    ledger,
    outbox,
    tokens,
    bodies,
    share,
    heartbeats,
    callers,
    refusals: createRefusalMemory(clock),
    holdHealth: createHoldHealth({ ledger, log, newId: newRequestId }),
    holdTtlMs: config.holdTtlMs,
    clock,
    log,
    metrics,
    shutdown: shutdown.signal,
  };
  let live: LiveConfig = config;
  const offer = (next: LiveConfig) => {
    live = next;
    gateway = { ...gateway, ...createOffer(next, upstreams) };
  };
  const close = async () => {
    heartbeats.close();
    callers.close();
    tokens.close();
    bodies.close();
    await outbox.close();
  };
  const cut = () => {
    shutdown.abort();
    tokens.hurry();
  };
  const listening = () => void setTimeout(tokens.start, WARM_UP_MS).unref();
  return { gateway: () => gateway, live: () => live, offer, database, listening, cut, close };
}

function createOffer(config: LiveConfig, kept: Upstreams): Offer {
  const { models, upstreams, keyLimits, accountLimits, clientDisconnect } = config;
  return {
    catalog: createCatalog(models),
    upstreams: kept.renew(upstreams),
    keyLimits,
    accountLimits,
    clientDisconnect,
  };
}
