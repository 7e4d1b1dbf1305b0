import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  credentials,
  Metadata,
  makeClientConstructor,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { Status__Output } from "../../src/gen/google/rpc/Status.ts";
import type { LedgerServiceClient } from "../../src/gen/tollgate/ledger/v1/LedgerService.ts";
import type { StreamMutationsRequest } from "../../src/gen/tollgate/ledger/v1/StreamMutationsRequest.ts";
import type { StreamMutationsResponse__Output } from "../../src/gen/tollgate/ledger/v1/StreamMutationsResponse.ts";
import { type Ledger, LedgerError } from "../../src/ledger/ledger.ts";
import { type LedgerServerOptions, serveLedger } from "../../src/ledger-grpc/server/server.ts";
import { LEDGER_SERVICE, ledgerService, messageType } from "../../src/ledger-grpc/service.ts";

/** Serves a ledger on a free port. Returns the server, its log messages and a client of grpc-js. */
export async function serve(options: Partial<LedgerServerOptions> = {}) {
  const logged: string[] = [];
  const keep = (_: unknown, event: string) => void logged.push(event);
  const server = await serveLedger({
    ledger: stubLedger(),
    listen: { host: "127.0.0.1", port: 0 },
    tokens: () => [TOKEN],
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

/** A failed call: its code, its message, the reason in ErrorInfo, and the details by type. */
export interface FailedCall {
  readonly code: string;
  readonly message: string;
  readonly reason: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Returns how a call failed. Throws when it succeeds. */
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
  return { code: status[error.code], message: error.details, ...details, ...withReason(details) };
}

/** Decodes the details of a status, by the name of their type. */
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

export type Stream = ClientDuplexStream<StreamMutationsRequest, StreamMutationsResponse__Output>;

type Unary = Exclude<keyof typeof ledgerService, "StreamMutations" | symbol | number>;

export const TOKEN = "a-token-of-the-tests";

/** Bounds of a client that a slow machine does not reach. The client's own bounds are tested in client.test.ts. */
export const PATIENT = Object.freeze({
  answerMaxMs: 120_000,
  outageMaxMs: 120_000,
  connectMaxMs: 120_000,
  listMaxMs: 120_000,
});

export function tokenOf(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}

/** Creates a client of grpc-js, with promises for unary calls. */
export function createCaller(address: string, secrets: ChannelCredentials, options?: ChannelOptions) {
  const Client = makeClientConstructor(ledgerService, LEDGER_SERVICE);
  // Safe because the client is made from this service.
  const client = new Client(address, secrets, options) as unknown as LedgerServiceClient;
  return {
    client,
    /** Rejects with the ServiceError of grpc-js. */
    call(
      method: Unary,
      request: object,
      callOptions: CallOptions = {},
      metadata: Metadata = tokenOf(TOKEN),
      // biome-ignore lint/suspicious/noExplicitAny: tests know the type of each answer.
    ): Promise<any> {
      return new Promise((resolve, reject) => {
        const ended = (error: Error | null, response?: unknown) =>
          error ? reject(error) : resolve(response);
        client.makeUnaryRequest(
          `/${LEDGER_SERVICE}/${method}`,
          ledgerService[method]?.requestSerialize as (message: object) => Buffer,
          ledgerService[method]?.responseDeserialize as (bytes: Buffer) => unknown,
          request,
          metadata,
          callOptions,
          ended,
        );
      });
    },
    stream(metadata: Metadata = tokenOf(TOKEN)): Stream {
      return client.StreamMutations(metadata);
    },
  };
}

const BALANCES = { posted: 9_007_199_254_740_993n, held: 5n, available: -2n };
const decline = () => Promise.reject(new LedgerError("unavailable"));

/** Creates a ledger that accepts everything and stores nothing; a test replaces single methods. */
export function stubLedger(changes: Partial<Ledger> = {}): Ledger {
  return {
    createWallet: async () => BALANCES,
    setWalletState: async () => undefined,
    hold: async ({ amount }) => ({ granted: amount, balances: BALANCES, replayed: false }),
    extend: async () => undefined,
    settle: async ({ amount }) => ({
      state: "settled",
      captured: amount,
      balances: BALANCES,
      replayed: false,
    }),
    release: async () => ({ state: "released", captured: 0n, balances: BALANCES, replayed: false }),
    topUp: async () => ({ balances: BALANCES, replayed: false }),
    charge: async () => ({ balances: BALANCES, replayed: false, receiptId: "receipt" }),
    refund: async () => ({ balances: BALANCES, replayed: false }),
    transferTotals: decline,
    creditTotals: decline,
    fullLimits: decline,
    setSpendLimit: async () => undefined,
    deleteSpendLimit: async () => undefined,
    balances: async () => BALANCES,
    wallet: async (walletId) => ({
      walletId,
      state: "active",
      balances: BALANCES,
      creditLimit: 0n,
      createdAtMs: 1,
    }),
    wallets: async () => ({ items: [], nextToken: undefined }),
    spendLimits: async () => [],
    receipt: async () => undefined,
    receiptsById: async () => [],
    receipts: async () => ({ items: [], nextToken: undefined, searchedToMs: undefined }),
    runningHolds: async () => ({ items: [], nextToken: undefined }),
    runningTotals: async () => [],
    journalTotals: decline,
    rollUps: decline,
    credits: async () => ({ items: [], nextToken: undefined }),
    transfers: async () => ({ items: [], nextToken: undefined }),
    usage: decline,
    ping: async () => undefined,
    close: async () => undefined,
    ...changes,
  };
}
