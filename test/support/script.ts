import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** One thing that the scripted upstream does with a connection, in the order it is yielded. */
export type Step =
  | { readonly send: string | Uint8Array }
  | { readonly waitMs: number }
  | { readonly until: Promise<unknown> }
  /** `reset` sends a RST, `close` a FIN, `hang` keeps the connection open and says no more. */
  | { readonly leave: "reset" | "close" | "hang" };

/** What a script may look at: the request that it answers. */
export interface ScriptRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  readonly protocol: "openai" | "anthropic";
  readonly model: string | undefined;
  readonly stream: boolean;
  /** Whether a chat request asks for usage in its stream. */
  readonly includeUsage: boolean;
}

/** Answers one request, on a socket below HTTP. */
export type Script = (request: ScriptRequest) => Iterable<Step> | AsyncIterable<Step>;

/** An HTTP answer and every way in which it may go wrong. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Defaults to `length`, or `chunked` for an event stream. */
  readonly framing?: "length" | "chunked" | "until_close";
  readonly gzip?: boolean;
  readonly delayMs?: number;
  /** Nothing is sent before it resolves. */
  readonly gate?: Promise<unknown>;
  /** Sizes of the pieces that the body is sent in; the last one repeats. */
  readonly pieces?: readonly number[];
  readonly pauseMs?: number;
  /** The body stands still after so many bytes until the gate opens. */
  readonly pauseAt?: { readonly bytes: number; readonly gate: Promise<unknown> };
  /** How many bytes of the body are sent; all of them when left out. */
  readonly cutAt?: number;
  /** What the head says the length is, whatever it is. */
  readonly claimedLength?: number;
  /** What comes after the last byte; `finish` ends the message as HTTP wants and keeps the connection. */
  readonly end?: "finish" | "reset" | "close" | "hang";
  /** How long a connection that breaks waits for its reader, 10 ms when left out. */
  readonly lingerMs?: number;
}

/** A script that gives one answer. */
export function answer(given: Answer): Script {
  return () => stepsOf(given);
}

/** Sends the bytes as they are, whatever they are, and closes. */
export function garbage(bytes: string | Uint8Array): Script {
  return () => [{ send: bytes }, { leave: "close" }];
}

/** Takes the request and resets the connection without a byte. */
export const resetAtOnce: Script = () => [{ leave: "reset" }];

/** Takes the request and never answers. */
export const silence: Script = () => [{ leave: "hang" }];

/** A promise with its resolver beside it: what a script waits for and a test opens. */
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
  // A connection that breaks takes with it what its reader has not read yet: that shall be read first.
  const lingerMs = end === "reset" || end === "close" ? (given.lingerMs ?? 10) : 0;
  // In small steps: a busy process must not wake up to find it all over.
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

/** Carries out the steps of a script on one socket, until they are over or the client has `gone`. */
export async function playScript(
  socket: Socket,
  gone: Promise<void>,
  steps: Iterable<Step> | AsyncIterable<Step>,
): Promise<"over" | "hung_up"> {
  for await (const step of steps) {
    if ("leave" in step) {
      if (step.leave === "reset") socket.resetAndDestroy();
      else if (step.leave === "close") socket.end();
      else await gone;
      return step.leave === "hang" ? "hung_up" : "over";
    }
    await Promise.race([gone, doStep(socket, step)]);
    if (socket.destroyed) return "hung_up";
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
