import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  Metadata,
  makeClientConstructor,
} from "@grpc/grpc-js";
import type { LedgerServiceClient } from "../../src/gen/tollgate/ledger/v1/LedgerService.ts";
import type { StreamMutationsRequest } from "../../src/gen/tollgate/ledger/v1/StreamMutationsRequest.ts";
import type { StreamMutationsResponse__Output } from "../../src/gen/tollgate/ledger/v1/StreamMutationsResponse.ts";
import { LEDGER_SERVICE, ledgerService } from "../../src/ledger-grpc/service.ts";

export type Stream = ClientDuplexStream<StreamMutationsRequest, StreamMutationsResponse__Output>;

type Unary = Exclude<keyof typeof ledgerService, "StreamMutations" | symbol | number>;

export const TOKEN = "a-token-of-the-tests";

export function tokenOf(token: string): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}

/** The library's own client, with promises for unary calls. */
export function createCaller(address: string, secrets: ChannelCredentials, options?: ChannelOptions) {
  const Client = makeClientConstructor(ledgerService, LEDGER_SERVICE);
  // Safe because the client is made of this very service.
  const client = new Client(address, secrets, options) as unknown as LedgerServiceClient;
  return {
    client,
    /** Rejects with the library's ServiceError. */
    call(
      method: Unary,
      request: object,
      callOptions: CallOptions = {},
      metadata: Metadata = tokenOf(TOKEN),
      // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of each answer.
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
