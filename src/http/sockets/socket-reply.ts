import { GatewayError, toGatewayError } from "../../errors.ts";
import type { AbortSource } from "../../gateway/request.ts";
import { openaiResponses } from "../../wire/openai-responses/format.ts";
import { printCancelledFrame } from "../../wire/openai-responses/response.ts";
import {
  type EndedResponse,
  errorMembers,
  type FrameMembers,
  OutputCollector,
  printErrorEvent,
  printFrame,
  splitEvents,
} from "../../wire/openai-responses/socket/server-frames.ts";
import type { EndedReply } from "../reply.ts";

const THROTTLED = 429;

/** Where frames go. */
export interface FrameSink {
  send(frames: readonly string[]): void;
  /** Resolves when the client has read what waits, or is gone; `undefined` while there is room. */
  room(): Promise<void> | undefined;
}

/** Ends one response before its end: its client cancelled it or is gone. It has one listener, as its attempts follow. */
export class ResponseSignal implements AbortSource {
  /** Why it was aborted. */
  reason: "cancelled" | "closed" | undefined;
  #listener: (() => void) | undefined;

  get aborted(): boolean {
    return this.reason !== undefined;
  }

  abort(reason: "cancelled" | "closed"): void {
    this.reason ??= reason;
    this.#listener?.();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listener = listener;
  }

  removeEventListener(): void {
    this.#listener = undefined;
  }
}

export interface SocketReplyOptions {
  readonly requestId: string;
  /** "" for the default queue, whose frames name none. */
  readonly streamId: string;
  readonly sink: FrameSink;
  readonly signal: ResponseSignal;
}

/**
 * The reply of one response on a WebSocket: the events of a streamed response as frames. The first and the last one
 * have the headers of an answer over HTTP, the last one with the cost.
 */
export class SocketReply implements EndedReply {
  status = 0;
  readonly signal: ResponseSignal;
  /** The response, once it has ended so that a later one may continue it. */
  ended: EndedResponse | undefined;
  /** The error that it ended with. */
  error: GatewayError | undefined;
  readonly #options: SocketReplyOptions;
  readonly #output = new OutputCollector();
  readonly #headers: Record<string, string>;
  #model = "";
  #last = "";

  constructor(options: SocketReplyOptions) {
    this.#options = options;
    this.signal = options.signal;
    this.#headers = { "x-request-id": options.requestId };
  }

  setHeaders(headers: Readonly<Record<string, string>>): void {
    Object.assign(this.#headers, headers);
  }

  expectStream(model: string): void {
    this.#model = model;
  }

  beginStream(): void {}

  write(text: string): Promise<void> | undefined {
    const begins = this.#last === "";
    this.#last = text;
    this.#send(text, (index) => (begins && index === 0 ? { headers: this.#headers } : {}));
    return this.#options.sink.room();
  }

  end(text: string): void {
    const isCancelled = text === "" && this.signal.reason === "cancelled";
    const ending = isCancelled ? printCancelledFrame(this.#options.requestId, this.#sent()) : text;
    this.#send(ending, (index, size) => (index === size - 1 ? { headers: this.#headers } : {}));
  }

  /**
   * Sends an error as an event of its own. Errors that agents read only as a failed response are sent as one: what
   * cannot be paid, a limit that passes, and every error behind output.
   */
  fail(thrown: unknown): GatewayError {
    const error = toGatewayError(thrown);
    this.error = error;
    const { requestId, streamId, sink } = this.#options;
    const headers = { ...this.#headers, ...errorHeaders(error) };
    const members = { stream_id: streamId || undefined, headers };
    this.status = openaiResponses.statusOf(error);
    const isInStream = this.#last !== "" || openaiResponses.sendsErrorInStream(error);
    if (!isInStream && this.status !== THROTTLED) {
      sink.send([printErrorEvent(error, members)]);
      return error;
    }
    const text = openaiResponses.printErrorFrame(withWait(error), requestId, this.#sent());
    this.#send(text, (index, size) => (index === size - 1 ? errorMembers(error, members) : {}));
    return error;
  }

  #sent() {
    return { model: this.#model, last: this.#last };
  }

  #send(text: string, membersOf: (index: number, size: number) => FrameMembers): void {
    const { streamId, sink } = this.#options;
    const events = splitEvents(text);
    if (events.length > 0 && !this.error) this.status = 200;
    const frames = events.map((event, index) => {
      this.ended = this.#output.read(event) ?? this.ended;
      return printFrame(event.data, { ...membersOf(index, events.length), stream_id: streamId || undefined });
    });
    if (this.signal.aborted) this.ended = undefined;
    sink.send(frames);
  }
}

/** The headers that an error has over HTTP. */
export function errorHeaders({ row, retryAfterS }: GatewayError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (!row.retry) headers["x-should-retry"] = "false";
  if (retryAfterS !== undefined) headers["retry-after"] = String(retryAfterS);
  return headers;
}

/** Adds the time to wait to the text of an error, where Codex reads it. */
function withWait(error: GatewayError): GatewayError {
  const { kind, publicMessage, retryAfterS } = error;
  if (retryAfterS === undefined) return error;
  return new GatewayError(kind, { message: `${publicMessage} Try again in ${retryAfterS}s.`, retryAfterS });
}
