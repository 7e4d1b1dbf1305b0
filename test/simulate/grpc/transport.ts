import type { IncomingHttpHeaders } from "node:http2";
import { Metadata, type MethodDefinition, status } from "@grpc/grpc-js";
import type { OpenTransport } from "../../../src/ledger-grpc/client/link.ts";
import { platform } from "../../../src/platform.ts";
import type { Machine } from "../scheduler.ts";
import type { World } from "../world.ts";
import { type CallStatus, GrpcConnection, type OpenCall } from "./connection.ts";
import type { LedgerProcess } from "./ledger-process.ts";

type Serialize = MethodDefinition<unknown, unknown>["requestSerialize"];
type Deserialize = MethodDefinition<unknown, unknown>["responseDeserialize"];
type Listener = (value: unknown) => void;
type Done = (error: (CallStatus & Error) | null, answer?: unknown) => void;

const CANCELLED: CallStatus = { code: status.CANCELLED, details: "Cancelled on client", metadata: undefined };
const LATE: CallStatus = {
  code: status.DEADLINE_EXCEEDED,
  details: "Deadline exceeded",
  metadata: undefined,
};

/** Replaces the transport of grpc-js: messages are encoded to bytes, and travel over a simulated network. */
export function createSimulatedTransport(
  world: World,
  machine: Machine,
  server: LedgerProcess,
): OpenTransport {
  return () => {
    const connection = new GrpcConnection(world, machine, server);
    const transport = {
      makeBidiStreamRequest: (path: string, serialize: Serialize, deserialize: Deserialize) =>
        new ClientStream(connection, server, { path, serialize, deserialize }),
      makeUnaryRequest: (
        path: string,
        serialize: Serialize,
        deserialize: Deserialize,
        request: unknown,
        metadata: Metadata,
        { deadline }: { readonly deadline: number },
        done: Done,
      ) =>
        new ClientCall(connection, deadline, done).send(server, {
          path,
          deserialize,
          bytes: serialize(request),
          metadata,
        }),
      close: () => connection.close(),
    };
    // Safe because a link makes these calls alone, and with these arguments.
    return transport as unknown as ReturnType<OpenTransport>;
  };
}

/** The client's end of a stream. */
class ClientStream implements OpenCall {
  readonly #connection: GrpcConnection;
  readonly #serialize: Serialize;
  readonly #listeners = new Map<string, Listener>();
  readonly #call: ReturnType<LedgerProcess["openStream"]>;
  #isOver = false;

  constructor(
    connection: GrpcConnection,
    server: LedgerProcess,
    { path, serialize, deserialize }: { path: string; serialize: Serialize; deserialize: Deserialize },
  ) {
    this.#connection = connection;
    this.#serialize = serialize;
    connection.add(this);
    this.#call = server.openStream(path, {
      message: (bytes) => connection.answer("a message", () => this.#emit("data", deserialize(bytes))),
      end: (ended) => connection.answer("with the end of a stream", () => this.lose(ended)),
    });
    connection.send("a stream", () => this.#call.begin());
  }

  on(event: string, listener: Listener): void {
    this.#listeners.set(event, listener);
  }

  write(message: unknown): void {
    const bytes = this.#serialize(message);
    this.#connection.send("a message", () => this.#call.receive(bytes));
  }

  lose(lost: CallStatus): void {
    if (this.#isOver) return;
    this.#emit("status", lost);
    this.#isOver = true;
    this.#connection.delete(this);
  }

  abandon(): void {
    this.#call.cancel();
  }

  cancel(): void {
    // The link closes its connection next, which ends the stream at the server.
  }

  #emit(event: string, value: unknown): void {
    if (!this.#isOver) this.#listeners.get(event)?.(value);
  }
}

/** The client's end of a unary call. */
class ClientCall implements OpenCall {
  readonly #connection: GrpcConnection;
  readonly #done: Done;
  readonly #deadline: number;
  readonly #timer: Timer;
  #isOver = false;

  constructor(connection: GrpcConnection, deadline: number, done: Done) {
    this.#connection = connection;
    this.#done = done;
    this.#deadline = deadline;
    this.#timer = platform.setTimeout(() => this.lose(LATE), deadline - platform.now());
    connection.add(this);
  }

  send(
    server: LedgerProcess,
    {
      path,
      deserialize,
      bytes,
      metadata,
    }: { path: string; deserialize: Deserialize; bytes: Buffer; metadata: Metadata },
  ): { cancel(): void } {
    const leftMs = this.#deadline - platform.now();
    const answer = (failed: CallStatus | undefined, reply: Buffer | undefined) =>
      this.#connection.answer(path, () =>
        failed ? this.lose(failed) : this.#finish(null, reply && deserialize(reply)),
      );
    this.#connection.send(path, () => server.call(path, { bytes, metadata, leftMs, answer }));
    return { cancel: () => void platform.setTimeout(() => this.lose(CANCELLED), 0) };
  }

  lose({ code, details, metadata = new Metadata() }: CallStatus): void {
    const copy = Metadata.fromHttp2Headers(metadata.toHttp2Headers() as IncomingHttpHeaders);
    this.#finish(Object.assign(new Error(details), { code, details, metadata: copy }), undefined);
  }

  abandon(): void {
    // A read goes on to its end, and nobody learns of it.
  }

  #finish(...result: Parameters<Done>): void {
    if (this.#isOver) return;
    this.#isOver = true;
    platform.clearTimeout(this.#timer);
    this.#connection.delete(this);
    this.#done(...result);
  }
}
