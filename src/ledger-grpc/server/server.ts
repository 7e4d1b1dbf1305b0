import { Server, ServerCredentials, type ServerOptions } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerService, tolerant } from "../service.ts";
import { createGuard, createOpenCalls, type OpenCallBounds } from "./access.ts";
import { createHandlers } from "./handlers.ts";
import { watchHealth } from "./health.ts";
import { createReflection } from "./reflection.ts";
import { createMutationStreams } from "./stream.ts";

/** A served ledger. */
export interface LedgerServer {
  /** "127.0.0.1:50051", with the port that was really taken. */
  readonly address: string;
  /** Takes no more calls and lets those that run finish; what takes longer than `stopMaxMs` is cut. */
  stop(): Promise<void>;
}

export interface LedgerServerOptions {
  readonly ledger: Ledger;
  /** Port 0 is any that is free. `host` comes without the brackets of an IPv6 address. */
  readonly listen: { readonly host: string; readonly port: number };
  /** What every caller must say as "authorization: Bearer TOKEN". */
  readonly token: string;
  readonly tls?: LedgerServerTls | undefined;
  readonly log: LedgerServerLog;
  /** How long calls that run may go on when the server stops; 10 s unless said otherwise. */
  readonly stopMaxMs?: number;
  /** Other bounds than usual for calls that need no token, which are those of health. */
  readonly openCalls?: Partial<OpenCallBounds>;
}

/** PEM text. With `ca` every caller must show a certificate of that authority. */
interface LedgerServerTls {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
}

/** Where the server says what is wrong; never a token, a message or an id. */
export interface LedgerServerLog {
  warn(fields: Readonly<Record<string, unknown>>, event: string): void;
  error(fields: Readonly<Record<string, unknown>>, event: string): void;
}

/** The server cannot have its address, or its certificate cannot be used. */
export class LedgerListenError extends Error {
  override readonly name = "LedgerListenError";
}

const DENIED_LOG_EVERY_MS = 10_000;

const OPTIONS: ServerOptions = {
  // A thousand holds with 4 KiB of metadata each, which may take three times that on the wire.
  "grpc.max_receive_message_length": 16 * 1024 * 1024,
  "grpc.max_send_message_length": -1,
  "grpc.max_concurrent_streams": 1_000,
  // A caller that is gone without a word is found out within 40 s.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // Connections are not given an age: a mutation stream is meant to stay.
  "grpc.max_connection_idle_ms": 300_000,
  "grpc-node.flow_control_window": 1024 * 1024,
};

/**
 * Serves a ledger to other processes, with health (open to all) and reflection. Resolves when it listens.
 * Rejects with {@link LedgerListenError}.
 */
export async function serveLedger(options: LedgerServerOptions): Promise<LedgerServer> {
  const { ledger, listen, token, tls, log, stopMaxMs = 10_000, openCalls } = options;
  const credentials = credentialsOf(tls);
  const onFault = (fault: unknown) => log.error({ fault: nameOf(fault) }, "ledger call failed");
  const runner = { ledger, onFault };
  const streams = createMutationStreams(runner);
  const guard = createGuard(
    token,
    createOpenCalls(openCalls),
    sometimes(() => log.warn({}, "ledger call without the token")),
  );

  const health = await watchHealth(ledger);
  const server = new Server({ ...OPTIONS, interceptors: [guard.interceptor] });
  server.addService(tolerant(ledgerService), createHandlers(runner, streams));
  server.addService(healthService, health.handlers);
  createReflection().addToServer(server);

  const port = await bind(server, listen, credentials).catch((error) => {
    health.drain();
    throw error;
  });
  const stop = async () => {
    health.drain();
    streams.drain();
    guard.endWatchers();
    await shutDown(server, stopMaxMs);
  };
  let stopped: Promise<void> | undefined;
  return {
    address: addressOf(listen.host, port),
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

function credentialsOf(tls: LedgerServerTls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure();
  const { cert, key, ca } = tls;
  if (!cert || !key) throw new LedgerListenError("Cannot serve the ledger in TLS: no certificate or no key");
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  return ServerCredentials.createSsl(ca ? Buffer.from(ca) : null, [pair], ca !== undefined);
}

function bind(
  server: Server,
  { host, port }: LedgerServerOptions["listen"],
  credentials: ServerCredentials,
): Promise<number> {
  const address = addressOf(host, port);
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (error) reject(new LedgerListenError(`Cannot serve the ledger at ${address}`, { cause: error }));
      else resolve(bound);
    });
  });
}

async function shutDown(server: Server, maxMs: number): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    server.forceShutdown();
    ended.resolve();
  }, maxMs);
  server.tryShutdown(() => ended.resolve());
  await ended.promise;
  clearTimeout(timer);
}

function addressOf(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Calls through at most once in ten seconds: whoever knocks must not fill the log. */
function sometimes(call: () => void): () => void {
  let lastMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (nowMs - lastMs < DENIED_LOG_EVERY_MS) return;
    lastMs = nowMs;
    call();
  };
}

function nameOf(fault: unknown): string {
  return fault instanceof Error ? fault.name : typeof fault;
}
