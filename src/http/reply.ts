import { type GatewayError, toGatewayError } from "../errors.ts";
import type { Reply } from "../gateway/gateway.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import { errorResponse } from "./errors.ts";
import { createEventStream, type EventStream } from "./event-stream.ts";
import { idHeaders } from "./identity.ts";

/** A reply and the HTTP response that it becomes. */
export interface HttpReply extends Reply {
  /** Resolves once the status is known: with the whole answer, an error, or the first piece of a stream. */
  readonly response: Promise<Response>;
  /** Says that the request failed: with a status while that is possible, else inside the stream. */
  fail(thrown: unknown): GatewayError;
  /** The status that went out; 0 before that. */
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
  /** The client's own. */
  readonly clientHeaders: Headers;
  /** Aborted by the server when the client is gone. */
  readonly signal: AbortSignal;
  /** Called before the last piece is handed over. */
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

  function respond(answer: Response): void {
    status = answer.status;
    resolve(answer);
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
    expectStream(asked) {
      isStreamExpected = true;
      model = asked;
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
      if (stream?.isOpen || (isStreamExpected && wire.refusesInStream(error))) {
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
