import type { LedgerProcessConfig } from "../config/config.ts";
import { takeLedgerTokens } from "../config/ledger.ts";
import { claimInstance, type Instance } from "../db/instance.ts";
import { allowShrinking } from "../db/sqlite/compact.ts";
import { startRetention, startRollUps, startSweeper } from "../ledger/background-jobs.ts";
import { sweepForgotten } from "../ledger/forgotten-names.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { platform, startPasses } from "../platform.ts";
import type { LedgerMetrics } from "../telemetry/ledger-metrics.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import type { Traces } from "../telemetry/trace-export.ts";
import { type RunningExports, startExports } from "./start-exports.ts";
import { openStorage, type Storage } from "./storage.ts";

const FORGOTTEN_SWEEP_MS = 3_600_000;
const LOOPBACK = /^(127\.[\d.]+|::1|localhost)$/;

/** Storage whose expired holds are swept, and whose ledger may be served over gRPC. */
export interface RunningLedger extends Storage {
  /** Which database this is. */
  readonly instance: Instance;
  /** Address of the gRPC service, such as "127.0.0.1:50051"; `undefined` when it is not served. */
  readonly servedAt: string | undefined;
  /** The exports of usage; `undefined` when another process runs the ledger. */
  readonly exports: RunningExports | undefined;
  /** Accepts no more gRPC calls and resolves when running ones have finished. */
  stopServing(): Promise<void>;
}

/** How a ledger reports what it does. */
interface LedgerTelemetry {
  readonly log: Log;
  readonly metrics: LedgerMetrics;
  readonly traces?: Pick<Traces, "startCommand"> | undefined;
}

/**
 * Opens the storage and serves the ledger over gRPC when configured. Starts the jobs of a local ledger. Rejects
 * when the database or the port cannot be used, or the database is a copy of one that may be in use.
 */
export async function startLedger(
  config: LedgerProcessConfig,
  { log, metrics, traces }: LedgerTelemetry,
): Promise<RunningLedger> {
  const storage = await openStorage({ ...config, observer: metrics });
  try {
    const instance = await claimInstance(storage.database);
    const server = await serveLedger(storage.ledger, config, { log, tracing: traces });
    const jobs = startLedgerJobs(storage, config, log);
    const stopServing = async () => server?.stop();
    const close = async () => {
      await stopServing();
      await jobs?.stop();
      await storage.close();
    };
    return { ...storage, instance, servedAt: server?.address, exports: jobs?.exports, stopServing, close };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

async function serveLedger(
  ledger: Ledger,
  { ledger: config, dataFolder }: LedgerProcessConfig,
  { log, tracing }: { readonly log: Log; readonly tracing: Pick<Traces, "startCommand"> | undefined },
) {
  const { listen, tls } = config;
  if (!listen) return undefined;
  const isEncrypted = tls.cert !== undefined;
  const isExposed = !isEncrypted && !LOOPBACK.test(listen.host);
  if (isExposed) log.warn({ ...listen }, "ledger served without TLS");
  const { serveLedger: serve } = await import("../ledger-grpc/server/server.ts");
  const generated = config.tokens.length === 0 ? takeLedgerTokens(dataFolder) : [];
  const tokens = () => (config.tokens.length === 0 ? generated : config.tokens);
  return serve({ ledger, listen, tokens, tls: isEncrypted ? tls : undefined, log, tracing });
}

/** The work in the background of a process with a local ledger. */
interface LedgerJobs {
  readonly exports: RunningExports;
  /** Resolves when every job has ended its step. */
  stop(): Promise<void>;
}

/**
 * Starts the sweepers of expired holds and forgotten names, roll-ups and exports of usage, and retention. Returns
 * `undefined` when the ledger is remote: its own processes do this work.
 */
function startLedgerJobs(storage: Storage, config: LedgerProcessConfig, log: Log): LedgerJobs | undefined {
  const { local: ledger } = storage;
  const { database, exports: exported = [] } = config;
  if (!ledger) {
    if (exported.length > 0) log.warn({}, "usage exports run with the ledger of LEDGER_URL, not here");
    return undefined;
  }
  const logFault = (event: string) => (fault: unknown) => log.error(describeFault(fault), event);
  const exports = startExports(database, exported, log);
  const jobs = [
    startSweeper({ ledger, onError: logFault("sweep failed") }),
    startRollUps({ ledger, onError: logFault("usage roll-up failed") }),
    startPasses({
      everyMs: FORGOTTEN_SWEEP_MS,
      run: () => sweepForgotten(storage.database, platform.now()),
      onError: logFault("sweep of forgotten names failed"),
    }),
    keepReceipts(storage, config, log),
  ];
  const stop = async () => {
    await Promise.all([...jobs.map((job) => job?.stop()), exports.close()]);
  };
  return { exports, stop };
}

/** Drops old receipts in the background. Returns `undefined` when all are kept. */
function keepReceipts({ local, database }: Storage, { receiptsDays }: LedgerProcessConfig, log: Log) {
  if (!local || receiptsDays === undefined) return undefined;
  if (database.dialect === "sqlite" && !allowShrinking(database.sqlite.path)) {
    log.warn({}, "free space of dropped receipts is kept for new ones, until tollgate compact was run");
  }
  return startRetention({
    ledger: local,
    policy: { receiptsDays },
    onRun({ receipts, bytes, clearedToMs, stopped }) {
      const run = { receipts, bytes, receiptsFrom: new Date(clearedToMs).toISOString() };
      if (stopped) log.error({ ...run, reason: stopped }, "retention stopped");
      else log.info(run, "old receipts dropped");
    },
    onError: (fault) => log.error(describeFault(fault), "retention failed"),
  });
}
