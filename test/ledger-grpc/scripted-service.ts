import { Server, ServerCredentials, type ServerDuplexStream, status } from "@grpc/grpc-js";
import type { LedgerServiceHandlers } from "../../src/gen/tollgate/ledger/v1/LedgerService.ts";
import type { MutationResult } from "../../src/gen/tollgate/ledger/v1/MutationResult.ts";
import type { StreamMutationsRequest__Output } from "../../src/gen/tollgate/ledger/v1/StreamMutationsRequest.ts";
import type { StreamMutationsResponse } from "../../src/gen/tollgate/ledger/v1/StreamMutationsResponse.ts";
import { ledgerService } from "../../src/ledger-grpc/service.ts";

export type MutationStream = ServerDuplexStream<StreamMutationsRequest__Output, StreamMutationsResponse>;

/** A service whose answers a test scripts. */
export interface ScriptedService {
  readonly address: string;
  /** The received messages, without empty ones. */
  readonly messages: readonly StreamMutationsRequest__Output[];
  /** The number of streams opened so far. */
  readonly streams: number;
  /** Handles a message; by default it does nothing. */
  onMessage: (message: StreamMutationsRequest__Output, stream: MutationStream) => void;
  /** Handles the empty first message of a stream; by default it answers. */
  onHello: (stream: MutationStream, message: StreamMutationsRequest__Output) => void;
  close(): void;
}

/** The result of an applied mutation. */
export const DONE: MutationResult = {
  balances: { postedNanos: "1", heldNanos: "0", availableNanos: "1" },
};

export async function openScriptedService(): Promise<ScriptedService> {
  const messages: StreamMutationsRequest__Output[] = [];
  let streams = 0;
  const unimplemented = (_call: unknown, callback: (error: { code: status }) => void) =>
    callback({ code: status.UNIMPLEMENTED });
  const handlers = Object.fromEntries(Object.keys(ledgerService).map((name) => [name, unimplemented]));
  const server = new Server();
  // Safe because every method has a handler, and the handler of the stream is typed.
  server.addService(ledgerService, {
    ...handlers,
    StreamMutations(stream: MutationStream) {
      streams += 1;
      stream.on("error", () => undefined);
      stream.on("data", (message: StreamMutationsRequest__Output) => {
        if (message.mutations.length === 0) return service.onHello(stream, message);
        messages.push(message);
        service.onMessage(message, stream);
      });
    },
  } as unknown as LedgerServiceHandlers);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const service: ScriptedService = {
    address: `127.0.0.1:${port}`,
    messages,
    get streams() {
      return streams;
    },
    onMessage: () => undefined,
    onHello: (stream, { sequence }) => stream.write({ sequence, results: [] }),
    close: () => server.forceShutdown(),
  };
  return service;
}
