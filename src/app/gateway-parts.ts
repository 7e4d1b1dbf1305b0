import { createEndUserHash } from "../accounts/attribution/end-user-names.ts";
import { createRunStore } from "../accounts/attribution/runs.ts";
import { createTagValues } from "../accounts/attribution/tag-values.ts";
import { createAuthenticate } from "../accounts/keys/authenticate.ts";
import { createMakeChild } from "../accounts/keys/child-keys.ts";
import { createFindEndedKeys } from "../accounts/keys/ended-keys.ts";
import { nameScopes } from "../accounts/keys/named-scopes.ts";
import { isOnePerson } from "../accounts/people/members.ts";
import { createBodies } from "../bodies/bodies.ts";
import { createCooperativeYield } from "../bodies/cooperative-yield.ts";
import { createCatalog } from "../catalog/catalog.ts";
import type { Config, LedgerProcessConfig, LiveConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { createDemoUpstream } from "../demo/demo.ts";
import { VERSION } from "../domain/version.ts";
import { createCallerWatch } from "../gateway/caller-watch.ts";
import { createDeclineMemory } from "../gateway/decline.ts";
import { type Gateway, type GatewaySettings, Shutdown } from "../gateway/gateway.ts";
import { createHeartbeats } from "../gateway/heartbeats.ts";
import { createHoldHealth } from "../gateway/hold-health.ts";
import { createRuns } from "../gateway/runs.ts";
import { newRequestId } from "../http/identity.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { OpenLogSync } from "../ledger/sqlite/log-sync.ts";
import { platform, SharedTimer } from "../platform.ts";
import { type OpenSettlementOutbox, openSettlementOutbox } from "../settlement-outbox/outbox.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { findOpenFiles } from "../telemetry/open-files.ts";
import { createRequestTracing, type RequestTracing } from "../telemetry/request-tracing.ts";
import type { Traces } from "../telemetry/trace-export.ts";
import { createTokenCounter } from "../tokens/count-tokens.ts";
import { type CreatePost, createUpstreams } from "../upstream/upstreams.ts";
import type { RunningLedger } from "./start-ledger.ts";
import type { RunningLimiter } from "./start-limiter.ts";
import { startRecorders } from "./start-recorders.ts";

/** The parts of a gateway that do not listen. */
export interface GatewayParts {
  /** The gateway under the latest configuration. */
  gateway(): Gateway;
  /** The latest configuration. */
  config(): LiveConfig;
  apply(config: LiveConfig): void;
  readonly database: Database;
  readonly outbox: Pick<OpenSettlementOutbox, "pending" | "oldestAtMs">;
  /** The ledger that runs here, or the connection to it. */
  readonly running: RunningLedger;
  /** Aborts running requests. Each is settled for what it has used, and its client gets an error. */
  abortRequests(): void;
  /** Stops background work. Settlements that the ledger has not accepted stay in the outbox on disk. */
  close(): Promise<void>;
}

/** What the parts are built on. */
interface Foundation {
  readonly ledger: RunningLedger;
  readonly limiter: RunningLimiter;
  readonly metrics: Metrics;
  readonly traces: Traces | undefined;
  readonly log: Log;
  /** Opens what syncs the settlement outbox. Default: the disk. */
  readonly openLog?: OpenLogSync;
  /** Creates what sends the requests of an upstream. Default: over HTTP. */
  readonly createPost?: CreatePost | undefined;
}

/** Creates the parts. Opens the settlement outbox; throws when its folder cannot be used. */
export function createParts(
  config: Config,
  { ledger: running, limiter, metrics, traces, log, openLog, createPost }: Foundation,
): GatewayParts {
  const { database, ledger, instance } = running;
  const { requests } = metrics;
  const onDeclined = () => requests.settleFailed("replay_declined");
  const { dataFolder: folder } = config;
  const outbox = openSettlementOutbox({ folder, ledger, log, onDeclined, owner: instance, openLog });
  const heartbeats = createHeartbeats(ledger, config.holdTtlMs, log);
  const callers = createCallerWatch({ findEnded: createFindEndedKeys(database), log });
  const tokens = createTokenCounter();
  const cooperativeYield = createCooperativeYield();
  const bodies = createBodies(cooperativeYield);
  const clock = () => platform.monotonicMs();
  const timer = new SharedTimer(clock);
  const recorders = startRecorders(config, { database, log, metrics });
  const shutdown = new Shutdown();
  const readLive = createSettingsReader(config, { metrics, traces, log, clock, createPost });
  let latest: LiveConfig = config;
  let gateway: Gateway = {
    ...readLive(config),
    authenticate: createAuthenticate({ database }),
    keys: createOwnKeys({ database, ledger }),
    isOnePerson: (account, other) => isOnePerson(database, account, other),
    limiter: limiter.limiter,
    ledger,
    outbox,
    tokens,
    bodies,
    cooperativeYield,
    heartbeats,
    callers,
    declines: createDeclineMemory(clock),
    ...recorders.parts,
    ...createAttribution(database, ledger),
    holdHealth: createHoldHealth({ ledger, log, newId: newRequestId }),
    holdTtlMs: config.holdTtlMs,
    files: findOpenFiles(),
    clock,
    timer,
    log,
    metrics: metrics.upstream,
    shutdown,
  };
  return {
    gateway: () => gateway,
    config: () => latest,
    apply(next) {
      latest = next;
      gateway = { ...gateway, ...readLive(next) };
    },
    database,
    outbox,
    running,
    abortRequests() {
      shutdown.abort();
      tokens.hurry();
    },
    async close() {
      heartbeats.close();
      callers.close();
      tokens.close();
      bodies.close();
      await recorders.close();
      await outbox.close();
    },
  };
}

/** Creates what names whom requests are for. */
function createAttribution(database: Database, ledger: Ledger): Pick<Gateway, "attribution" | "runs"> {
  return {
    attribution: { hashEndUser: createEndUserHash(database), countTagValue: createTagValues({ database }) },
    runs: createRuns({ ledger, store: createRunStore({ database, ledger }) }),
  };
}

/**
 * Returns a function that creates the settings which a configuration reload replaces, and announces their routes
 * to the metrics.
 */
function createSettingsReader(
  started: Config,
  {
    metrics,
    traces,
    log,
    clock,
    createPost,
  }: Omit<Foundation, "ledger" | "limiter" | "openLog"> & { readonly clock: () => number },
): (live: LiveConfig) => GatewaySettings {
  const builtIn = [createDemoUpstream()];
  const { replicas } = started.limiter;
  const allUpstreams = createUpstreams({
    builtIn,
    metrics: metrics.upstream,
    log,
    clock,
    replicas,
    createPost,
  });
  const follow = createFollower(started, { traces, log, clock });
  return (live) => {
    const { models, defaultModels, upstreams, keyLimits, accountLimits, clientDisconnect } = live;
    const named = allUpstreams.renew(upstreams);
    metrics.requests.announce(routesOf(live, named));
    return {
      catalog: createCatalog(models),
      defaultModels,
      upstreams: named,
      keyLimits,
      accountLimits,
      clientDisconnect,
      tracing: follow(live),
    };
  };
}

/** The routes that requests may take, for their metrics. */
function routesOf({ models }: LiveConfig, upstreams: GatewaySettings["upstreams"]) {
  return models.flatMap(({ id: model, routes }) =>
    routes.map(({ upstream }) => ({
      model,
      upstream,
      provider: upstreams.get(upstream)?.provider ?? "",
    })),
  );
}

/** Time for the last export, at the end of a drain. */
export const EXPORT_MS_MAX = 2_000;

/** Starts to export traces. Resolves with `undefined`, and loads nothing, where they are off. */
export async function startTraces(
  { traces: config }: Pick<LedgerProcessConfig, "traces">,
  { serviceName, log }: { readonly serviceName: string; readonly log: Pick<Log, "warn"> },
): Promise<Traces | undefined> {
  if (!config) return undefined;
  const { startTraces: start } = await import("../telemetry/trace-export.ts");
  return start(config, { serviceName, version: VERSION, log });
}

interface FollowerParts {
  readonly traces: Traces | undefined;
  readonly log: Log;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

/** Returns a function that decides how requests are followed under a configuration. */
function createFollower(
  { logLevel, traces: config }: Config,
  { traces, log, clock }: FollowerParts,
): (live: LiveConfig) => RequestTracing | undefined {
  const capturesContent = config?.capturesContent ?? false;
  const startSpan = traces?.startRequest;
  return ({ debugKeys }) =>
    createRequestTracing({ log, logLevel, debugKeys, startSpan, capturesContent, clock });
}

/** What keys ask of themselves. */
function createOwnKeys({ database, ledger }: Pick<RunningLedger, "database" | "ledger">): Gateway["keys"] {
  return {
    makeChild: createMakeChild({ database, ledger }),
    nameScopes: (key) => nameScopes(database, key),
  };
}
