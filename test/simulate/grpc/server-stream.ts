import { Metadata, type MethodDefinition, status } from "@grpc/grpc-js";
import type { MutationStreams } from "../../../src/ledger-grpc/server/stream.ts";
import type { CallStatus } from "./connection.ts";

/** What a stream of the server sends. */
export interface ClientEnd {
  message(bytes: Buffer): void;
  end(ended: CallStatus): void;
}

type Listener = (value?: unknown) => void;

/** The server's end of a stream, with what the handler uses of grpc-js's. */
export class ServerStream {
  cancelled = false;
  destroyed = false;
  readonly #method: MethodDefinition<unknown, unknown>;
  readonly #client: ClientEnd;
  readonly #handle: (stream: ServerStream) => void;
  readonly #listeners = new Map<string, Listener>();
  readonly #received: unknown[] = [];
  #hasBegun = false;
  #isPaused = false;

  constructor(
    method: MethodDefinition<unknown, unknown>,
    client: ClientEnd,
    handle: (stream: ServerStream) => void,
  ) {
    this.#method = method;
    this.#client = client;
    this.#handle = handle;
  }

  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#handle(this);
  }

  receive(bytes: Buffer): void {
    this.#received.push(this.#method.requestDeserialize(bytes));
    this.#pass();
  }

  /** The client's end is gone. */
  cancel(): void {
    if (this.destroyed || !this.#hasBegun) return;
    this.cancelled = true;
    this.destroyed = true;
    this.#listeners.get("cancelled")?.();
  }

  asCall(): Parameters<MutationStreams["handle"]>[0] {
    // Safe because the handler uses these members alone.
    return this as unknown as Parameters<MutationStreams["handle"]>[0];
  }

  sendMetadata(): void {}

  on(event: string, listener: Listener): void {
    this.#listeners.set(event, listener);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#pass();
  }

  write(message: unknown, written: () => void): void {
    this.#client.message(this.#method.responseSerialize(message));
    written();
  }

  end(): void {
    this.#end({ code: status.OK, details: "OK", metadata: new Metadata() });
  }

  /** A handler ends a stream with a status by the event `error`. */
  emit(_event: "error", ended: Partial<CallStatus>): void {
    this.#end({ code: status.UNKNOWN, details: "", metadata: undefined, ...ended });
  }

  #end(ended: CallStatus): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#client.end(ended);
    this.#listeners.get("cancelled")?.();
  }

  #pass(): void {
    while (this.#hasBegun && !this.#isPaused && !this.destroyed && this.#received.length > 0) {
      this.#listeners.get("data")?.(this.#received.shift());
    }
  }
}
