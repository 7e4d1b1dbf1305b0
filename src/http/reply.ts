import { type GatewayError, toGatewayError } from "../errors.ts";
import type { AbortSource, FileReply, Reply } from "../gateway/request.ts";
import type { WireFormat } from "../wire/format.ts";
import { errorResponse } from "./errors.ts";
import { type ByteStream, createByteStream, createEventStream, type EventStream } from "./event-stream.ts";

/** A reply that can also be an error. */
export interface EndedReply extends Reply {
  /** Sends an error: as a status before the stream has opened, else as an event of the stream. */
  fail(thrown: unknown): GatewayError;
  /** The status of the response; 0 until it is known. */
  readonly status: number;
}

/** A reply with its HTTP response. */
export interface HttpReply extends EndedReply {
  /** Resolves once the status is known: with a whole body, an error, or the first chunk of a stream. */
  readonly response: Promise<Response>;
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

const WHOLE_HEADERS = { "content-type": "application/json" };

export interface ReplyOptions {
  readonly request: Request;
  readonly requestId: string;
  readonly wire: WireFormat;
  /** The content type of streams. Default: events. */
  readonly streamType?: string | undefined;
  /** Called before the last bytes are written. */
  onEnd(): void;
}

export function createReply(options: ReplyOptions): HttpReply {
  return new ClientReply(options);
}

/** A class, because closures for each request cost more. */
class ClientReply implements HttpReply {
  readonly signal: AbortSource;
  readonly response: Promise<Response>;
  status = 0;
  readonly #options: ReplyOptions;
  readonly #resolve: (response: Response) => void;
  readonly #headers: Record<string, string> = {};
  #stream: EventStream | undefined;
  /** The body of a file; no request has both. */
  #file: ByteStream | undefined;
  #isStreamExpected = false;
  #model = "";
  #last = "";

  constructor(options: ReplyOptions) {
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.#options = options;
    this.#resolve = resolve;
    this.response = promise;
    this.signal = new ClientSignal(options.request.signal);
  }

  setHeaders(headers: Readonly<Record<string, string>>): void {
    Object.assign(this.#headers, headers);
  }

  expectStream(model: string): void {
    this.#isStreamExpected = true;
    this.#model = model;
  }

  beginStream(): void {
    this.#openStream();
  }

  write(text: string): Promise<void> | undefined {
    this.#last = text;
    return (this.#stream ?? this.#openStream()).write(text);
  }

  end(text: string, contentType?: string): void {
    this.#options.onEnd();
    if (this.#stream) this.#stream.end(text);
    else this.#succeed(text, contentType ? { "content-type": contentType } : WHOLE_HEADERS);
  }

  openFile(contentType: string): FileReply {
    const file = createByteStream((body) => this.#succeed(body, { "content-type": contentType }));
    this.#file = file;
    const end = (bytes: Uint8Array) => {
      this.#options.onEnd();
      file.end(bytes);
    };
    return { write: (bytes) => file.write(bytes), end };
  }

  fail(thrown: unknown): GatewayError {
    const { request, requestId, wire, onEnd } = this.#options;
    const error = toGatewayError(thrown);
    onEnd();
    if (this.#file?.isOpen) {
      this.#file.cut();
      return error;
    }
    if (this.#stream?.isOpen || (this.#isStreamExpected && wire.sendsErrorInStream(error))) {
      const context = { model: this.#model, last: this.#last };
      this.#openStream().end(wire.printErrorFrame(error, requestId, context));
      return error;
    }
    this.#stream?.abandon();
    const betas = request.headers.get("anthropic-beta") ?? undefined;
    const response = errorResponse(error, wire, { requestId, headers: this.#headers, betas });
    this.status = response.status;
    this.#resolve(response);
    return error;
  }

  #openStream(): EventStream {
    const { wire, streamType: type } = this.#options;
    const headers = type === undefined ? STREAM_HEADERS : { ...STREAM_HEADERS, "content-type": type };
    const { keepAlive } = wire;
    this.#stream ??= createEventStream({ keepAlive, onOpen: (body) => this.#succeed(body, headers) });
    return this.#stream;
  }

  #succeed(body: string | ReadableStream<Uint8Array>, contentHeaders: Record<string, string>): void {
    const headers = Object.assign(this.#headers, contentHeaders);
    headers["x-request-id"] = this.#options.requestId;
    headers["request-id"] = this.#options.requestId;
    this.status = 200;
    this.#resolve(new Response(body, { headers }));
  }
}

/**
 * Aborts when the client has disconnected. It has one listener, because the attempts of a request follow each
 * other. Adding and removing a listener of the `AbortSignal` for each attempt costs four times as much.
 */
export class ClientSignal implements AbortSource {
  readonly #signal: AbortSignal;
  #listener: (() => void) | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get aborted(): boolean {
    return this.#signal.aborted;
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listener = listener;
    this.#signal.onabort ??= () => this.#listener?.();
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }
}
