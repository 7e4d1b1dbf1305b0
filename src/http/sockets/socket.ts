import { type Cause, GatewayError, toGatewayError } from "../../errors.ts";
import { findStreamId, readClientEvent } from "../../wire/openai-responses/socket/client-event.ts";
import { printErrorEvent } from "../../wire/openai-responses/socket/server-frames.ts";
import { logInternalError } from "../errors.ts";
import { newRequestId } from "../identity.ts";
import { type QueuesHost, type QueuesParts, ResponseQueues } from "./response-queues.ts";
import type { SocketOwner } from "./run-create.ts";
import { errorHeaders } from "./socket-reply.ts";

/** Wrong events in a row. */
const REFUSED_MAX = 16;
/** Bytes that wait for a slow client before its responses wait too. */
const UNREAD_BYTES_MAX = 64 * 1024;

/** Why the gateway closes a connection: a close code of RFC 6455 and a text of at most 123 bytes. */
export type CloseReason = readonly [code: number, text: string];

export const CLOSES = {
  goingAway: [1001, "The gateway is going away: connect again."],
  tooOld: [1001, "The connection is 60 minutes old: connect again."],
  rightsEnded: [1008, "The key or its account has ended."],
  tooManyRefused: [1008, "Too many events were not valid."],
  forgotten: [1013, "The conversation is not kept any more: connect again and send it whole."],
} as const satisfies Record<string, CloseReason>;

/** The errors after which the secret of the connection is of no use any more. */
const RIGHTS_ENDED: ReadonlySet<Cause> = new Set<Cause>([
  "unknown_key",
  "key_revoked",
  "key_revoked_charged",
  "account_suspended",
  "account_suspended_charged",
]);

/** The connection itself. */
export interface SocketTransport {
  /** Returns whether the frame waits for the client to read. */
  send(frame: string): boolean;
  unreadBytes(): number;
  close(reason: CloseReason): void;
}

/** One WebSocket: reads the events of its client in their order, and closes the connection when its time has come. */
export class ResponsesSocket implements QueuesHost {
  readonly owner: SocketOwner;
  readonly openedAtMs: number;
  /** Responses that were asked for. */
  responses = 0;
  readonly #parts: QueuesParts;
  readonly #transport: SocketTransport;
  readonly #queues: ResponseQueues;
  #reading: Promise<void> | undefined;
  #refused = 0;
  #room: PromiseWithResolvers<void> | undefined;
  #ending: CloseReason | undefined;
  /** Sent before the end, and never beside a response: Codex takes it for the end of that one. */
  #lastError: Cause | undefined;
  #afterResponse: CloseReason | undefined;
  #isClosed = false;

  constructor(parts: QueuesParts, owner: SocketOwner, transport: SocketTransport) {
    this.#parts = parts;
    this.owner = owner;
    this.#transport = transport;
    this.#queues = new ResponseQueues(parts, this);
    this.openedAtMs = parts.gateway().clock();
  }

  /** Takes a message of the client. A large one may take some turns to read, and later ones wait for it. */
  receive(message: string | Uint8Array): void {
    const bytes = Buffer.byteLength(message);
    try {
      this.#parts.bodyBudget.take(this.owner.accountId, bytes);
    } catch (thrown) {
      this.#refuse(thrown, message);
      return;
    }
    const read = () => this.#read(message, bytes);
    const reading = this.#reading === undefined ? read() : this.#reading.then(read);
    this.#reading = reading;
    void reading.then(() => {
      if (this.#reading !== reading) return;
      this.#reading = undefined;
      this.#closeIfIdle();
    });
  }

  /** Called when the client has read what waited. */
  drained(): void {
    if (this.#transport.unreadBytes() <= UNREAD_BYTES_MAX) this.#giveRoom();
  }

  /** Called once, when the connection is closed by either side. */
  closed(): void {
    this.#isClosed = true;
    this.#giveRoom();
    this.#queues.close();
  }

  /** Closes the connection after its running responses, and after the event of an `error`. */
  endWhenIdle(reason: CloseReason, error?: Cause): void {
    if (this.#ending) return;
    this.#ending = reason;
    this.#lastError = error;
    this.#closeIfIdle();
  }

  /** Closes the connection after its next response, or after those that run. */
  endAfterResponse(reason: CloseReason): void {
    if (this.#queues.running > 0) this.endWhenIdle(reason);
    else this.#afterResponse ??= reason;
  }

  send(frames: readonly string[]): void {
    if (this.#isClosed) return;
    let isFull = false;
    for (const frame of frames) isFull = this.#transport.send(frame) || isFull;
    if (isFull && !this.#isClosed && this.#transport.unreadBytes() > UNREAD_BYTES_MAX)
      this.#room ??= Promise.withResolvers();
  }

  room(): Promise<void> | undefined {
    return this.#room?.promise;
  }

  get isIdle(): boolean {
    return this.#queues.running === 0;
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  responseEnded(error: GatewayError | undefined): void {
    if (error && RIGHTS_ENDED.has(error.kind)) this.#ending ??= CLOSES.rightsEnded;
    this.#ending ??= this.#afterResponse;
    this.#closeIfIdle();
  }

  /** A client such as Codex takes an unknown earlier response for a fault of its own, so that it has to reconnect. */
  forgotten(): void {
    this.endWhenIdle(CLOSES.forgotten);
  }

  async #read(message: string | Uint8Array, bytes: number): Promise<void> {
    let isWaiting = false;
    try {
      isWaiting = !this.isEnding && (await this.#accept(message, bytes));
    } catch (thrown) {
      this.#refuse(thrown, message);
    } finally {
      if (!isWaiting) this.#parts.bodyBudget.give(this.owner.accountId, bytes);
    }
  }

  /** Returns whether the event waits for its turn, and keeps its bytes. */
  async #accept(message: string | Uint8Array, bytes: number): Promise<boolean> {
    if (typeof message !== "string") throw new GatewayError("not_json");
    const { cooperativeYield } = this.#parts.gateway();
    const event = await cooperativeYield.run(this.owner.accountId, () => readClientEvent(message));
    if (this.#isClosed) return false;
    if (event.kind === "cancel") this.#queues.cancel(event.streamId);
    if (event.kind !== "create") return false;
    this.#queues.add({ event, bytes });
    this.#refused = 0;
    this.responses += 1;
    return true;
  }

  /** Answers a message that is no valid event, or that finds no room. */
  #refuse(thrown: unknown, message: string | Uint8Array): void {
    const error = toGatewayError(thrown);
    const requestId = newRequestId();
    logInternalError(this.#parts.gateway().log, requestId, error);
    const streamId = typeof message === "string" ? findStreamId(message) : undefined;
    const headers = { "x-request-id": requestId, ...errorHeaders(error) };
    this.send([printErrorEvent(error, { stream_id: streamId, headers })]);
    this.#refused += 1;
    if (this.#refused >= REFUSED_MAX) this.close(CLOSES.tooManyRefused);
  }

  #closeIfIdle(): void {
    if (!this.#ending || this.#queues.running > 0 || this.#reading !== undefined) return;
    if (this.#lastError) this.#refuse(new GatewayError(this.#lastError), "");
    this.#lastError = undefined;
    this.close(this.#ending);
  }

  /** Closes the connection at once. */
  close(reason: CloseReason): void {
    if (!this.#isClosed) this.#transport.close(reason);
  }

  #giveRoom(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
