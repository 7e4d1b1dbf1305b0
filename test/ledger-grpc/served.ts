import { credentials, type ServiceError, status } from "@grpc/grpc-js";
import type { Status__Output } from "../../src/gen/google/rpc/Status.ts";
import { type LedgerServerOptions, serveLedger } from "../../src/ledger-grpc/server/server.ts";
import { messageType } from "../../src/ledger-grpc/service.ts";
import { createCaller, TOKEN } from "./caller.ts";
import { standInLedger } from "./stand-in-ledger.ts";

/** A server on a free port, with what it logs, and a client of the library itself in front of it. */
export async function serve(options: Partial<LedgerServerOptions> = {}) {
  const logged: string[] = [];
  const keep = (_: unknown, event: string) => void logged.push(event);
  const server = await serveLedger({
    ledger: standInLedger(),
    listen: { host: "127.0.0.1", port: 0 },
    token: TOKEN,
    log: { warn: keep, error: keep },
    ...options,
  });
  const { client, call, stream } = createCaller(server.address, credentials.createInsecure());
  return {
    client,
    call,
    stream,
    server,
    logged,
    async [Symbol.asyncDispose]() {
      client.close();
      await server.stop();
    },
  };
}

/** How a call failed: its code, the reason that the ledger gives, and the other details by their type. */
export interface FailedCall {
  readonly code: string;
  readonly says: string;
  readonly reason: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Throws when the call succeeds. */
export async function failureOf(call: Promise<unknown>): Promise<FailedCall> {
  const error = await call.then(
    () => undefined,
    (reason: ServiceError) => reason,
  );
  if (!error) throw new Error("expected a failed call, got an answer");
  const [bytes] = error.metadata?.get("grpc-status-details-bin") ?? [];
  const details = bytes
    ? detailsOf(messageType<object, Status__Output>("google.rpc.Status").deserialize(bytes as Buffer))
    : {};
  return { code: status[error.code], says: error.details, ...details, ...withReason(details) };
}

/** The details of a status by the name of their type. */
export function detailsOf(wire: Status__Output): { readonly details: Readonly<Record<string, unknown>> } {
  const pairs = wire.details.map(({ type_url, value }) => {
    const name = type_url.replace("type.googleapis.com/", "");
    return [name.replace("google.rpc.", ""), messageType(name).deserialize(value)] as const;
  });
  return { details: Object.fromEntries(pairs) };
}

function withReason(failure: { readonly details?: Readonly<Record<string, unknown>> }) {
  const info = failure.details?.ErrorInfo as { reason: string; domain: string } | undefined;
  return {
    details: failure.details ?? {},
    reason: info?.domain === "tollgate.ledger" ? info.reason : undefined,
  };
}
