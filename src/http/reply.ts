import { type GatewayError, toGatewayError } from "../errors.ts";
import type { Reply } from "../gateway/request.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import { errorResponse } from "./errors.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { idHeaders } from "./identity.ts";

/** A reply with its HTTP response. */
export interface HttpReply extends Reply {
  /** Resolves once the status is known: with a whole body, an error, or the first chunk of a stream. */
  readonly response: Promise<Response>;
  /** Sends an error: as a status before the stream has opened, else as an event of the stream. */
  fail(thrown: unknown): GatewayError;
  /** The status of the response; 0 until it is known. */
  readonly status: number;
}

const STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

const WHOLE_HEADERS = { "content-type": "application/json" };

export interface ReplyOptions {
  readonly requestId: string;
  readonly wire: WireProtocol;
  /** Headers of the request. */
  readonly clientHeaders: Headers;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
  /** Called before the last bytes are written. */
  onEnd(): void;
}

export function createReply({ requestId, wire, clientHeaders, signal, onEnd }: ReplyOptions): HttpReply {
  const { promise: response, resolve } = Promise.withResolvers<Response>();
  const headers: Record<string, string> = {};
  let stream: EventStream | undefined;
  let status = 0;
  let isStreamExpected = false;
  let model = "";
  let last = "";

  function respond(result: Response): void {
    status = result.status;
    resolve(result);
  }
  function succeed(body: string | ReadableStream<Uint8Array>, contentHeaders: Record<string, string>): void {
    respond(new Response(body, { headers: { ...headers, ...idHeaders(requestId), ...contentHeaders } }));
  }
  function beginStream(): EventStream {
    const { keepAlive } = wire;
    stream ??= createEventStream({ keepAlive, onOpen: (body) => succeed(body, STREAM_HEADERS) });
    return stream;
  }

  return {
    signal,
    response,
    get status() {
      return status;
    },
    setHeaders: (more) => void Object.assign(headers, more),
    expectStream(requestedModel) {
      isStreamExpected = true;
      model = requestedModel;
    },
    beginStream: () => void beginStream(),
    write(text) {
      last = text;
      return beginStream().write(text);
    },
    end(text) {
      onEnd();
      if (stream) stream.end(text);
      else succeed(text, WHOLE_HEADERS);
    },
    fail(thrown) {
      const error = toGatewayError(thrown);
      onEnd();
      if (stream?.isOpen || (isStreamExpected && wire.sendsErrorInStream(error))) {
        beginStream().end(wire.printErrorFrame(error, requestId, { model, last }));
        return error;
      }
      stream?.abandon();
      const betas = clientHeaders.get("anthropic-beta") ?? undefined;
      respond(errorResponse(error, wire, { requestId, headers, betas }));
      return error;
    },
  };
}
