import { readFileSync } from "node:fs";
import { Server, ServerCredentials, type ServerOptions } from "@grpc/grpc-js";
import type { PackageDefinition } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { service as healthService } from "grpc-health-check";
import { printAddress } from "../../domain/addresses.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { programFile } from "../../program-files.ts";
import { LEDGER_SERVICE, ledgerService, tolerant } from "../service.ts";
import { createGuard, createOpenCalls, type OpenCallBounds, type Tokens } from "./access.ts";
import { createHandlers } from "./handlers.ts";
import { watchHealth } from "./health.ts";
import type { LedgerServerTracing } from "./mutations.ts";
import { createMutationStreams } from "./stream.ts";

/** A running gRPC server of a ledger. */
export interface LedgerServer {
  /** "127.0.0.1:50051", with the port that is bound. */
  readonly address: string;
  /** Accepts no more calls, waits at most `stopMaxMs` for the running ones, and cancels the rest. */
  stop(): Promise<void>;
}

export interface LedgerServerOptions {
  readonly ledger: Ledger;
  /** Port 0 binds any free port. `host` is without the brackets of an IPv6 address. */
  readonly listen: { readonly host: string; readonly port: number };
  /** The tokens in force. Every caller sends one, as "authorization: Bearer TOKEN". */
  readonly tokens: Tokens;
  readonly tls?: LedgerServerTls | undefined;
  readonly log: LedgerServerLog;
  /** Follows the commands of sampled traces; `undefined` without traces. */
  readonly tracing?: LedgerServerTracing | undefined;
  /** How long running calls may continue when the server stops; 10 s by default. */
  readonly stopMaxMs?: number;
  /** Overrides bounds of the calls without a token, which are those of health. */
  readonly openCalls?: Partial<OpenCallBounds>;
}

/** PEM texts. With `ca` every caller must present a certificate of that authority. */
interface LedgerServerTls {
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly ca: string | undefined;
}

/** The log of the server; no line contains a token, a message or an id. */
export interface LedgerServerLog {
  warn(fields: Readonly<Record<string, unknown>>, event: string): void;
  error(fields: Readonly<Record<string, unknown>>, event: string): void;
}

/** The server cannot bind its address, or cannot use its certificate. */
export class LedgerListenError extends Error {
  override readonly name = "LedgerListenError";
}

const DENIED_LOG_EVERY_MS = 10_000;

const OPTIONS: ServerOptions = {
  // Fits 1,000 holds with 4 KiB of metadata and 16 scopes each, which may take three times that on the wire.
  "grpc.max_receive_message_length": 32 * 1024 * 1024,
  "grpc.max_send_message_length": -1,
  "grpc.max_concurrent_streams": 1_000,
  // A caller that vanished is noticed within 40 s.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // No maximum age: streams of mutations stay open.
  "grpc.max_connection_idle_ms": 300_000,
  "grpc-node.flow_control_window": 1024 * 1024,
};

/**
 * Serves a ledger to other processes, with health (without a token) and reflection. Resolves when it listens.
 * Rejects with {@link LedgerListenError}.
 */
export async function serveLedger(options: LedgerServerOptions): Promise<LedgerServer> {
  const { ledger, listen, tokens, tls, log, tracing, stopMaxMs = 10_000, openCalls } = options;
  const credentials = credentialsOf(tls);
  const onFault = (fault: unknown) => log.error({ fault: nameOf(fault) }, "ledger call failed");
  const target = { ledger, onFault, tracing };
  const streams = createMutationStreams(target);
  const guard = createGuard(
    tokens,
    createOpenCalls(openCalls),
    throttled(() => log.warn({}, "ledger call without the token")),
  );

  const health = await watchHealth(ledger);
  const server = new Server({ ...OPTIONS, interceptors: [guard.interceptor] });
  server.addService(tolerant(ledgerService), createHandlers(target, streams));
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
    address: printAddress(listen.host, port),
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
  const address = printAddress(host, port);
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

/** Returns a function that runs `call` at most once in 10 s, so that denied callers cannot fill the log. */
function throttled(call: () => void): () => void {
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

/** The wire tag of `FileDescriptorSet.file`. */
const FILE_TAG = 0x0a;

/**
 * Creates the reflection service, v1 and v1alpha. It serves the descriptors that the compiler wrote. Those of
 * the proto loader have other field names, which clients in other languages cannot read.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/server-reflection.md
 */
function createReflection(): ReflectionService {
  const set = readFileSync(programFile("src/gen/ledger.binpb"));
  // Safe because reflection reads only the descriptors of a definition.
  const definition = {
    descriptors: { fileDescriptorProtos: splitFiles(set) },
  } as unknown as PackageDefinition;
  return new ReflectionService(definition, { services: [LEDGER_SERVICE] });
}

/** Splits a `FileDescriptorSet` into its files; it has no other field. */
function splitFiles(set: Buffer): readonly Buffer[] {
  const files: Buffer[] = [];
  for (let at = 0; at < set.length; ) {
    if (set[at] !== FILE_TAG) throw new Error("src/gen/ledger.binpb is not a FileDescriptorSet");
    const { value, end } = readVarint(set, at + 1);
    files.push(set.subarray(end, end + value));
    at = end + value;
  }
  return files;
}

function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  let end = start;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes.readUInt8(end);
    value += (byte & 0x7f) * 2 ** shift;
    end += 1;
    if (byte < 0x80) return { value, end };
  }
}
