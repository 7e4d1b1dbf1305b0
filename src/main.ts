import { createCatalog } from "./catalog/catalog.ts";
import type { Config } from "./config.ts";
import { openDatabase, type SqliteDatabase } from "./db/sqlite/database.ts";
import { welcomeFirstStart } from "./first-start.ts";
import type { Gateway } from "./gateway/gateway.ts";
import { createHeartbeats } from "./gateway/heartbeats.ts";
import { createRefusalMemory } from "./gateway/refusal-memory.ts";
import { createBodyBudget } from "./http/body-budget.ts";
import { createRunningRequests } from "./http/running-requests.ts";
import { listen } from "./http/serve.ts";
import { createAuthenticate } from "./keys/authenticate.ts";
import type { Ledger } from "./ledger/ledger.ts";
import { createSqliteLedger } from "./ledger/sqlite.ts";
import { startSweeper } from "./ledger/sweep.ts";
import { createMemoryLimiter } from "./limiter/memory.ts";
import { createLog, describeFault, type Log } from "./telemetry/log.ts";
import { createTokenCounter } from "./tokens/count-tokens.ts";
import { createDemoUpstream } from "./upstream/demo.ts";
import { createHttpUpstream } from "./upstream/http-upstream.ts";
import type { Upstream } from "./upstream/upstream.ts";

/** What a cut request still gets to be settled in, after the drain limit. */
const CUT_MS = 5_000;

/** A gateway that listens. */
export interface Tollgate {
  /** "http://127.0.0.1:8080" */
  readonly url: string;
  readonly database: SqliteDatabase;
  readonly ledger: Ledger;
  /** Takes no more requests, lets running ones finish or cuts them at the drain limit, settles all, closes. */
  stop(): Promise<void>;
}

/** Puts the parts together and listens. Throws when the database or the port cannot be had. */
export async function startTollgate(config: Config, log: Log): Promise<Tollgate> {
  const { gateway, database, close } = createParts(config, log);
  const running = createRunningRequests();
  const bodyBudget = createBodyBudget(config.bodyBytesInFlightMax);
  let isReady = true;
  try {
    const server = listen({ gateway, bodyBudget, running, isReady: () => isReady }, config);
    const stop = async () => {
      isReady = false;
      await within(config.drainMs, Promise.all([server.stop(), running.idle()]));
      await server.stop(true);
      await within(CUT_MS, running.idle());
      await close();
    };
    return { url: server.url.origin, database, ledger: gateway.ledger, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Parts {
  readonly gateway: Gateway;
  readonly database: SqliteDatabase;
  close(): Promise<void>;
}

function createParts(config: Config, log: Log): Parts {
  const database = openDatabase(config.databasePath);
  const ledger = createSqliteLedger({ database });
  const onError = (fault: unknown) => log.error(describeFault(fault), "sweep failed");
  const sweeper = startSweeper({ ledger, onError });
  const heartbeats = createHeartbeats(ledger, config.holdTtlMs, log);
  const tokens = createTokenCounter();
  const clock = () => performance.now();
  const gateway: Gateway = {
    authenticate: createAuthenticate({ database }),
    catalog: createCatalog(config.models),
    limiter: createMemoryLimiter(),
    ledger,
    upstreams: createUpstreams(config),
    tokens,
    heartbeats,
    refusals: createRefusalMemory(clock),
    keyLimits: config.keyLimits,
    accountLimits: config.accountLimits,
    holdTtlMs: config.holdTtlMs,
    clock,
    log,
  };
  const close = async () => {
    heartbeats.close();
    await sweeper.stop();
    tokens.close();
    await ledger.close();
    database.close();
  };
  return { gateway, database, close };
}

/** Runs until a signal ends it: the gateway as a process of its own. */
export async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  logStrayFaults(log);
  const tollgate = await startTollgate(config, log);
  log.info({ url: tollgate.url, database: config.databasePath, models: config.models.length }, "listening");
  const welcome = await welcomeFirstStart(tollgate, config);
  // On stderr, because stdout is the log, and a log must not hold a key.
  if (welcome) process.stderr.write(welcome);

  const signal = await new Promise<string>((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"]) process.once(name, resolve);
  });
  log.info({ signal }, "draining");
  await tollgate.stop();
  log.info({}, "stopped");
  log.close();
}

/** A fault that nobody caught ends one request at most; Bun itself would print its text, whoever wrote that. */
function logStrayFaults(log: Log): void {
  for (const event of ["uncaughtException", "unhandledRejection"]) {
    process.on(event, (fault) => log.error(describeFault(fault), "stray fault"));
  }
}

/** Waits for something, but not for longer than this. */
async function within(ms: number, awaited: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([awaited, late]);
  clearTimeout(timer);
}

function createUpstreams({ upstreams }: Config): ReadonlyMap<string, Upstream> {
  const all = [createDemoUpstream(), ...upstreams.map(createHttpUpstream)];
  return new Map(all.map((upstream) => [upstream.name, upstream]));
}
