import type { LedgerProcessConfig } from "../config/config.ts";
import { takeLedgerToken } from "../config/ledger-token.ts";
import { startSweeper } from "../ledger/engine/sweeper.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { type Books, openBooks } from "./storage.ts";

const LOOPBACK = /^(127\.[\d.]+|::1|localhost)$/;

/** Books that are looked after. */
export interface KeptBooks extends Books {
  /** Where the ledger is served, "127.0.0.1:50051"; `undefined` is nowhere. */
  readonly servedAt: string | undefined;
  /** Lets the calls of other services finish and takes no more. */
  stopServing(): Promise<void>;
}

/**
 * Opens the books, expires what nobody ends, and serves the ledger to other services where the
 * configuration says so. Rejects when database or port cannot be had.
 */
export async function keepBooks(config: LedgerProcessConfig, log: Log): Promise<KeptBooks> {
  const books = await openBooks(config);
  try {
    const server = await serveLedger(books.ledger, config, log);
    const onError = (fault: unknown) => log.error(describeFault(fault), "sweep failed");
    const sweeper = books.local && startSweeper({ ledger: books.local, onError });
    const stopServing = async () => server?.stop();
    const close = async () => {
      await stopServing();
      await sweeper?.stop();
      await books.close();
    };
    return { ...books, servedAt: server?.address, stopServing, close };
  } catch (error) {
    await books.close();
    throw error;
  }
}

async function serveLedger(
  ledger: Ledger,
  { ledger: { listen, token, tls }, dataFolder }: LedgerProcessConfig,
  log: Log,
) {
  if (!listen) return undefined;
  const isEncrypted = tls.cert !== undefined;
  const isExposed = !isEncrypted && !LOOPBACK.test(listen.host);
  if (isExposed) log.warn({ ...listen }, "the ledger is served without TLS");
  const { serveLedger: serve } = await import("../ledger-grpc/server/server.ts");
  const ownToken = token ?? takeLedgerToken(dataFolder);
  return serve({ ledger, listen, token: ownToken, tls: isEncrypted ? tls : undefined, log });
}
