import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** One action of the scripted upstream on a connection, carried out in the order of the script. */
export type Step =
  | { readonly send: string | Uint8Array }
  | { readonly waitMs: number }
  | { readonly until: Promise<unknown> }
  /** `reset` sends a RST, `close` a FIN; `hang` keeps the connection open without sending more. */
  | { readonly leave: "reset" | "close" | "hang" };

/** A format of scripted answers. */
export type ScriptedFormat = "openai" | "anthropic";

/** The request that a script answers. */
export interface ScriptRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  readonly protocol: ScriptedFormat;
  readonly model: string | undefined;
  readonly stream: boolean;
  /** Whether a chat request asks for usage in its stream. */
  readonly includeUsage: boolean;
}

/** Returns the actions that answer one request, on the level of the socket. */
export type Script = (request: ScriptRequest) => Iterable<Step> | AsyncIterable<Step>;

/** An HTTP answer, and the ways in which it can go wrong. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Default: `chunked` for an event stream, else `length`. */
  readonly framing?: "length" | "chunked" | "until_close";
  readonly gzip?: boolean;
  readonly delayMs?: number;
  /** Nothing is sent until it resolves. */
  readonly gate?: Promise<unknown>;
  /** Sizes of the pieces of the body, in bytes. The last size repeats. */
  readonly pieces?: readonly number[];
  readonly pauseMs?: number;
  /** Pauses the body after this many bytes until the gate opens. */
  readonly pauseAt?: { readonly bytes: number; readonly gate: Promise<unknown> };
  /** Sends only this many bytes of the body. Default: all. */
  readonly cutAt?: number;
  /** The value of the content-length header. Default: the true length. */
  readonly claimedLength?: number;
  /** What follows the last byte. `finish` ends the message properly and keeps the connection. */
  readonly end?: "finish" | "reset" | "close" | "hang";
  /** Time between the last byte and a reset or close, so that the reader gets the bytes. Default 10 ms. */
  readonly lingerMs?: number;
}

/** Returns a script that sends one answer. */
export function answer(given: Answer): Script {
  return () => stepsOf(given);
}

/** Sends bytes unchanged and closes the connection. */
export function garbage(bytes: string | Uint8Array): Script {
  return () => [{ send: bytes }, { leave: "close" }];
}

/** Reads the request and resets the connection without sending a byte. */
export const resetAtOnce: Script = () => [{ leave: "reset" }];

/** Reads the request and never answers. */
export const silence: Script = () => [{ leave: "hang" }];

/** A promise and the function that resolves it. A script waits for `opened`; the test calls `open`. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: () => resolve() };
}

function* stepsOf(given: Answer): Generator<Step> {
  if (given.gate !== undefined) yield { until: given.gate };
  if (given.delayMs) yield { waitMs: given.delayMs };
  const body = encode(given);
  const framing = given.framing ?? (isEventStream(given) ? "chunked" : "length");
  yield { send: headOf(given, framing, body.length) };
  yield* bodySteps(given, framing, body.subarray(0, given.cutAt ?? body.length));
  const end = given.end ?? "finish";
  // A reset discards bytes that the reader has not read yet.
  const lingerMs = end === "reset" || end === "close" ? (given.lingerMs ?? 10) : 0;
  // Waits in small steps, because a busy process may read late.
  for (let waitedMs = 0; waitedMs < lingerMs; waitedMs += 10) yield { waitMs: 10 };
  if (end !== "finish") yield { leave: end };
  else if (framing === "chunked") yield { send: "0\r\n\r\n" };
  else if (framing === "until_close") yield { leave: "close" };
}

function* bodySteps(given: Answer, framing: string, body: Buffer): Generator<Step> {
  let at = 0;
  for (const size of sizesOf(given, body.length)) {
    if (given.pauseAt && at === given.pauseAt.bytes) yield { until: given.pauseAt.gate };
    const piece = body.subarray(at, at + size);
    yield { send: framing === "chunked" ? chunk(piece) : piece };
    at += piece.length;
    if (given.pauseMs && at < body.length) yield { waitMs: given.pauseMs };
  }
  if (given.pauseAt && at <= given.pauseAt.bytes) yield { until: given.pauseAt.gate };
}

function* sizesOf({ pieces = [Number.POSITIVE_INFINITY], pauseAt }: Answer, length: number) {
  let at = 0;
  for (let index = 0; at < length; index++) {
    const wanted = pieces[Math.min(index, pieces.length - 1)] ?? Number.POSITIVE_INFINITY;
    const toPause = pauseAt && pauseAt.bytes > at ? pauseAt.bytes - at : Number.POSITIVE_INFINITY;
    const size = Math.min(wanted, toPause, length - at);
    yield size;
    at += size;
  }
}

function chunk(piece: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
}

function encode({ body, gzip }: Answer): Buffer {
  const bytes = Buffer.from(body);
  return gzip ? gzipSync(bytes) : bytes;
}

function isEventStream({ headers }: Answer): boolean {
  return (headers?.["content-type"] ?? "").startsWith("text/event-stream");
}

function headOf(given: Answer, framing: string, length: number): string {
  const headers: Record<string, string> = { "content-type": "application/json", ...given.headers };
  if (given.gzip) headers["content-encoding"] = "gzip";
  if (framing === "length") headers["content-length"] = String(given.claimedLength ?? length);
  if (framing === "chunked") headers["transfer-encoding"] = "chunked";
  if (framing === "until_close") headers.connection = "close";
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${given.status ?? 200} Scripted\r\n${lines.join("")}\r\n`;
}

/** Carries out a script on one socket. Ends with the script, or when the client has disconnected. */
export async function playScript(
  socket: Socket,
  gone: Promise<void>,
  steps: Iterable<Step> | AsyncIterable<Step>,
): Promise<"over" | "disconnected"> {
  for await (const step of steps) {
    if ("leave" in step) {
      if (step.leave === "reset") socket.resetAndDestroy();
      else if (step.leave === "close") socket.end();
      else await gone;
      return step.leave === "hang" ? "disconnected" : "over";
    }
    await Promise.race([gone, doStep(socket, step)]);
    if (socket.destroyed) return "disconnected";
  }
  return "over";
}

function doStep(socket: Socket, step: Exclude<Step, { leave: unknown }>): Promise<unknown> {
  if ("waitMs" in step) return Bun.sleep(step.waitMs);
  return "until" in step ? step.until : send(socket, step.send);
}

function send(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (socket.write(bytes)) resolve();
  else socket.once("drain", () => resolve());
  return promise;
}
