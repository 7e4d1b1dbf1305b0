import type { Server, ServerWebSocket, WebSocketHandler } from "bun";
import { type Caller, rootIdOf } from "../../accounts/keys/key.ts";
import type { SocketBounds } from "../../domain/socket-bounds.ts";
import { GatewayError, toGatewayError } from "../../errors.ts";
import type { CallerWatch } from "../../gateway/caller-watch.ts";
import type { RunningCaller } from "../../gateway/request.ts";
import { platform } from "../../platform.ts";
import { logInternalError, respondWithError } from "../errors.ts";
import type { HttpParts } from "../http-parts.ts";
import { newRequestId, readSecret } from "../identity.ts";
import { BODY_BYTES_MAX } from "../incoming-bodies.ts";
import { readAttributionHeaders } from "../inference.ts";
import { MemoryGuard, type ProcessMemory, processMemory } from "./memory-guard.ts";
import { ResponseMemory } from "./response-memory.ts";
import type { QueuesParts } from "./response-queues.ts";
import type { SocketOwner } from "./run-create.ts";
import { CLOSES, type CloseReason, ResponsesSocket } from "./socket.ts";

/** As long as OpenAI keeps a connection. */
const AGE_MS_MAX = 60 * 60 * 1000;
const SWEEP_EVERY_MS = 10_000;
/** A client that answers no ping for so long is gone. */
const SILENCE_S = 120;
/** The end of a response repeats its text four times, of 32 MiB at most. A client that leaves more unread is closed. */
const UNREAD_BYTES_MAX = 160 * 1024 * 1024;
/** Connections take at most this part of the open files. */
const FILES_SHARE = 2;

/** What is open now. */
export interface OpenSockets {
  readonly count: number;
  readonly memoryBytes: number;
}

export interface SocketsParts extends Pick<HttpParts, "gateway" | "bodyBudget" | "running"> {
  readonly socketBounds: SocketBounds;
  /** Finds callers of open connections that have ended. */
  readonly socketCallers: CallerWatch;
  /** Default: that of the process. */
  readonly processMemory?: ProcessMemory | undefined;
}

/** What Bun keeps with a connection. */
export interface SocketData {
  readonly owner: SocketOwner;
  /** Unix milliseconds at which the key or its secret ends. */
  readonly endsAtMs: number;
  socket?: ResponsesSocket;
  caller?: RunningCaller;
}

/** All WebSockets of responses of this process. */
export class ResponsesSockets {
  readonly handlers: WebSocketHandler<SocketData>;
  readonly #parts: SocketsParts & QueuesParts;
  readonly #open = new Map<ResponsesSocket, SocketData>();
  readonly #byKey = new Map<string, number>();
  readonly #byAccount = new Map<string, number>();
  readonly #countMax: number;
  readonly #sweep: Timer;
  readonly #guard: MemoryGuard;
  #endsAfterResponses = false;

  constructor(parts: SocketsParts) {
    const { memoryBytes: bytesMax, accountMemoryBytes: accountBytesMax, total } = parts.socketBounds;
    const filesMax = parts.gateway().files.max ?? Number.POSITIVE_INFINITY;
    this.#countMax = Math.min(total, Math.floor(filesMax / FILES_SHARE));
    this.#parts = { ...parts, memory: new ResponseMemory({ bytesMax, accountBytesMax }) };
    this.#sweep = platform.setInterval(() => this.#endOld(), SWEEP_EVERY_MS);
    this.#sweep.unref();
    this.#guard = new MemoryGuard(parts.processMemory ?? processMemory(), () => this.#relieve());
    this.handlers = {
      maxPayloadLength: BODY_BYTES_MAX,
      idleTimeout: SILENCE_S,
      sendPings: true,
      backpressureLimit: UNREAD_BYTES_MAX,
      closeOnBackpressureLimit: true,
      perMessageDeflate: false,
      open: (connection) => this.#begin(connection),
      message: ({ data }, message) => data.socket?.receive(message),
      drain: ({ data }) => data.socket?.drained(),
      close: ({ data }, code) => this.#end(data, code),
    };
  }

  /** Opens a connection, or responds with why there is none. `undefined` once Bun has the connection. */
  async open(request: Request, server: Server<SocketData>): Promise<Response | undefined> {
    const gateway = this.#parts.gateway();
    const requestId = newRequestId();
    try {
      if (this.#countMax === 0) throw new GatewayError("no_websocket");
      const data = dataOf(request, await gateway.authenticate(readSecret(request.headers)));
      this.#requireRoom(data.owner);
      if (server.upgrade(request, { data })) return undefined;
      throw new GatewayError("no_websocket");
    } catch (thrown) {
      const error = toGatewayError(thrown);
      logInternalError(gateway.log, requestId, error);
      return respondWithError(request, error, requestId);
    }
  }

  state(): OpenSockets {
    return { count: this.#open.size, memoryBytes: this.#parts.memory.bytes };
  }

  /** Closes each connection after its next response. */
  endAfterResponses(): void {
    this.#endsAfterResponses = true;
    for (const socket of this.#open.keys()) socket.endAfterResponse(CLOSES.goingAway);
  }

  /** Closes each connection once no response is running. */
  drain(): void {
    for (const socket of this.#open.keys()) socket.endWhenIdle(CLOSES.goingAway);
  }

  close(): void {
    platform.clearInterval(this.#sweep);
    this.#guard.stop();
  }

  #requireRoom({ accountId, rootKeyId }: SocketOwner): void {
    const { perAccount, perKey } = this.#parts.socketBounds;
    const isFull =
      this.#open.size >= this.#countMax ||
      (this.#byAccount.get(accountId) ?? 0) >= perAccount ||
      (this.#byKey.get(rootKeyId) ?? 0) >= perKey;
    // A client that reads 426 goes on over HTTP at once, where the same bounds hold for its requests.
    if (isFull || !this.#parts.running.mayBegin()) throw new GatewayError("too_many_sockets");
  }

  #begin(connection: ServerWebSocket<SocketData>): void {
    const { data } = connection;
    const { owner } = data;
    const socket = new ResponsesSocket(this.#parts, owner, transportOf(connection));
    data.socket = socket;
    this.#open.set(socket, data);
    add(this.#byAccount, owner.accountId, 1);
    add(this.#byKey, owner.rootKeyId, 1);
    data.caller = this.#parts.socketCallers.start(owner.keyId);
    data.caller.addEventListener("abort", () => socket.endWhenIdle(CLOSES.rightsEnded));
    this.#guard.start();
    if (this.#endsAfterResponses) socket.endAfterResponse(CLOSES.goingAway);
  }

  #end({ socket, caller, owner }: SocketData, code: number): void {
    if (!socket || !this.#open.delete(socket)) return;
    add(this.#byAccount, owner.accountId, -1);
    add(this.#byKey, owner.rootKeyId, -1);
    caller?.[Symbol.dispose]();
    socket.closed();
    if (this.#open.size === 0) this.#guard.stop();
    const { log, clock } = this.#parts.gateway();
    const { keyId, accountId } = owner;
    const { responses, openedAtMs } = socket;
    log.info({ keyId, accountId, responses, ms: Math.round(clock() - openedAtMs), code }, "websocket closed");
  }

  /** Closes the connections of the account that has the most, which may keep unfinished messages: idle ones first. */
  #relieve(): void {
    const [largest] = [...this.#byAccount].sort(([, one], [, other]) => other - one);
    if (!largest) return;
    const [accountId, count] = largest;
    const own = [...this.#open.keys()].filter(({ owner }) => owner.accountId === accountId);
    const idle = own.filter(({ isIdle }) => isIdle);
    this.#parts.gateway().log.warn({ accountId, count }, "memory nearly used up, websockets closed");
    for (const socket of idle.length > 0 ? idle : own) socket.close(CLOSES.forgotten);
  }

  #endOld(): void {
    const nowMs = this.#parts.gateway().clock();
    for (const [socket, { endsAtMs }] of this.#open) {
      if (platform.now() >= endsAtMs) socket.endWhenIdle(CLOSES.rightsEnded);
      else if (nowMs - socket.openedAtMs >= AGE_MS_MAX) socket.endWhenIdle(CLOSES.tooOld, "socket_too_old");
    }
  }
}

function transportOf(connection: ServerWebSocket<SocketData>) {
  return {
    send: (frame: string) => connection.send(frame) < 0,
    unreadBytes: () => connection.getBufferedAmount(),
    close: ([code, text]: CloseReason) => connection.close(code, text),
  };
}

const TRACE_HEADERS = ["traceparent", "tracestate"];

function dataOf({ headers }: Request, { key, accountSuspended, secretEndsAtMs }: Caller): SocketData {
  if (accountSuspended) throw new GatewayError("account_suspended");
  const traceHeaders: Record<string, string> = {};
  for (const name of TRACE_HEADERS) {
    const value = headers.get(name);
    if (value !== null) traceHeaders[name] = value;
  }
  const owner = {
    accountId: key.accountId,
    keyId: key.id,
    rootKeyId: rootIdOf(key),
    secret: readSecret(headers),
    allowsClamp: headers.get("x-tollgate-clamp") === "allow",
    attribution: readAttributionHeaders(headers),
    traceHeaders,
  };
  const never = Number.POSITIVE_INFINITY;
  return { owner, endsAtMs: Math.min(key.expiresAtMs ?? never, secretEndsAtMs ?? never) };
}

function add(counts: Map<string, number>, id: string, more: number): void {
  const count = (counts.get(id) ?? 0) + more;
  if (count > 0) counts.set(id, count);
  else counts.delete(id);
}
