import { printUsd } from "../../../domain/money.ts";
import { type GatewayError, toGatewayError } from "../../../errors.ts";
import type { AbortSource, HeldRequest } from "../../../gateway/request.ts";
import { parseAnyJson, readArray, readText } from "../../../wire/json/read.ts";
import { WIRES } from "../../../wire/registry.ts";
import { createSseDecoder } from "../../../wire/sse.ts";
import { errorResponse } from "../../errors.ts";
import { createEventStream, type EventStream } from "../../event-stream.ts";
import { ClientSignal, type HttpReply } from "../../reply.ts";
import type { ReceiptJson } from "../requests/shapes.ts";

/** The cost is sent at most this often, in milliseconds. */
const COST_EVERY_MS = 200;
/** A comment, which keeps the connection open. */
const KEEP_ALIVE = ":\n\n";
/** Characters of ordinary text per token, for output that is not counted yet. */
const CHARS_PER_TOKEN = 4;
const HEADERS = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };

export interface PlaygroundReplyOptions {
  /** The request as received, whose signal aborts when its client disconnects. */
  readonly received: Request;
  readonly requestId: string;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
}

/**
 * The reply of a playground request: events of our own, made from a chat stream. A decline before the hold
 * has its own status; the hold opens the stream, and every later failure is an `error` event in it.
 */
export class PlaygroundReply implements HttpReply {
  readonly signal: AbortSource;
  readonly response: Promise<Response>;
  status = 0;
  readonly #options: PlaygroundReplyOptions;
  readonly #resolve: (response: Response) => void;
  readonly #headers: Record<string, string> = {};
  readonly #decoder = createSseDecoder();
  #stream: EventStream | undefined;
  #held: HeldRequest | undefined;
  #error: GatewayError | undefined;
  #costSentAt = 0;

  constructor(options: PlaygroundReplyOptions) {
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.#options = options;
    this.#resolve = resolve;
    this.response = promise;
    this.signal = new ClientSignal(options.received.signal);
  }

  setHeaders(headers: Readonly<Record<string, string>>): void {
    Object.assign(this.#headers, headers);
  }

  expectStream(): void {}

  beginStream(): void {}

  /** Opens the stream with the granted amount. */
  start(held: HeldRequest): void {
    this.#held = held;
    this.#stream = createEventStream({ keepAlive: KEEP_ALIVE, onOpen: (body) => this.#open(body) });
    const { requestId } = this.#options;
    void this.#send("start", { request_id: requestId, granted_usd: printUsd(held.hold.granted) });
  }

  write(text: string): Promise<void> | undefined {
    let room: Promise<void> | undefined;
    for (const { data } of this.#decoder.push(Buffer.from(text))) {
      const delta = readDelta(data);
      if (delta?.reasoning) room = this.#send("reasoning", { text: delta.reasoning });
      if (delta?.text) room = this.#send("delta", { text: delta.text });
      for (const call of delta?.calls ?? []) room = this.#send("tool_call", call);
    }
    return this.#sendCost() ?? room;
  }

  end(text: string): void {
    void this.write(text);
  }

  fail(thrown: unknown): GatewayError {
    const error = toGatewayError(thrown);
    this.#error = error;
    if (this.#stream) return error;
    const { requestId } = this.#options;
    const response = errorResponse(error, WIRES.chat, { requestId, headers: this.#headers });
    this.status = response.status;
    this.#resolve(response);
    return error;
  }

  /** Ends an open stream, once its request is settled. Without a receipt the ledger is away. */
  finish(receipt: ReceiptJson | null): void {
    if (!this.#stream) return;
    if (receipt) void this.#send("cost", costOfReceipt(receipt));
    if (this.#error) {
      const { publicMessage: message, row } = this.#error;
      void this.#send("error", { error: { message, type: row.chat[1], code: row.code }, receipt });
    } else void this.#send("end", { receipt });
    this.#stream.end("");
  }

  /** The request that holds money; `undefined` for one that was refused. */
  get held(): HeldRequest | undefined {
    return this.#held;
  }

  #sendCost(): Promise<void> | undefined {
    const now = this.#options.clock();
    if (!this.#held || now - this.#costSentAt < COST_EVERY_MS) return undefined;
    this.#costSentAt = now;
    const { meter } = this.#held;
    const estimated = Math.ceil(meter.generatedChars / CHARS_PER_TOKEN);
    const outputTokens = Math.max(meter.counted().outputTokens, estimated);
    return this.#send("cost", { spent_usd: printUsd(meter.accrued()), output_tokens: outputTokens });
  }

  #send(event: string, data: object): Promise<void> | undefined {
    return this.#stream?.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  #open(body: ReadableStream<Uint8Array>): void {
    this.status = 200;
    this.#resolve(new Response(body, { headers: { ...this.#headers, ...HEADERS } }));
  }
}

function costOfReceipt({ charged_usd, output_tokens }: ReceiptJson): object {
  return { spent_usd: charged_usd, output_tokens: output_tokens ?? 0 };
}

/** The new text of one chunk of a chat stream. */
interface PlaygroundDelta {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly CallPiece[];
}

/** A piece of a tool call: its id and name come once, its arguments piece by piece. */
interface CallPiece {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * Reads the data of one event of a chat stream; `undefined` for an event without choices. Hosts name
 * reasoning `reasoning_content` or `reasoning`.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
function readDelta(data: string): PlaygroundDelta | undefined {
  // The end of the stream is "[DONE]": a text that is no JSON has no delta.
  const delta = member(first(member(parseAnyJson(data), "choices")), "delta");
  if (delta === undefined) return undefined;
  const reasoning = readText(member(delta, "reasoning_content")) || readText(member(delta, "reasoning"));
  const calls = readArray(member(delta, "tool_calls")).map(readCall);
  return { text: readText(member(delta, "content")) + readText(member(delta, "refusal")), reasoning, calls };
}

function readCall(call: unknown): CallPiece {
  const index = member(call, "index");
  const called = member(call, "function");
  return {
    index: typeof index === "number" ? index : 0,
    id: readText(member(call, "id")),
    name: readText(member(called, "name")),
    arguments: readText(member(called, "arguments")),
  };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : undefined;
}
