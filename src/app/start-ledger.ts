import type { LedgerProcessConfig } from "../config/config.ts";
import { takeLedgerTokens } from "../config/ledger.ts";
import { claimInstance, type Instance } from "../db/instance.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LedgerMetrics } from "../telemetry/ledger-metrics.ts";
import type { Log } from "../telemetry/log.ts";
import type { Traces } from "../telemetry/trace-export.ts";
import { startLedgerJobs } from "./ledger-jobs.ts";
import type { RunningExports } from "./start-exports.ts";
import { openStorage, type Storage } from "./storage.ts";

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
