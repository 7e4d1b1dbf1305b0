import type { Soon } from "../bodies/body.ts";
import { platform } from "../platform.ts";
import type { AttemptTrace } from "../telemetry/request-trace.ts";
import type { Permit } from "../upstream/circuit-phases.ts";
import { type AnswerHead, isClaudeModel } from "../wire/format.ts";
import { type ReplyPart, type ReplyReader, ResponseReader } from "../wire/reply-part.ts";
import { createSseDecoder, type SseDecoder, type SseEvent, type SseListener } from "../wire/sse.ts";
import { UpstreamFault } from "../wire/upstream-fault.ts";
import type { Gateway } from "./gateway.ts";
import type { Meter } from "./meter.ts";
import { estimateInputTokens } from "./quote.ts";
import { type BodyBytes, readBody, relayBytes } from "./relay-bytes.ts";
import {
  type Candidate,
  failed,
  type HeldRequest,
  type Outcome,
  type Reply,
  unrepresentable,
} from "./request.ts";
import type { AttemptTimeouts } from "./timeouts.ts";

/** Memory that one answer may take; no model writes 32 MiB. */
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of one embedding: four thousand numbers of a dozen digits, and some more. */
const VECTOR_BYTES_MAX = 64 * 1024;
/** Bytes that are decoded without a yield: thousands of the smallest events, which take milliseconds. */
const PIECE_BYTES_MAX = 64 * 1024;
/** How long a connection may take to end before it is closed instead of reused. */
const LINGER_MS = 1000;

/** As much of an attempt as its answer depends on. */
export interface RelayContext {
  readonly held: HeldRequest;
  readonly reply: Reply;
  readonly candidate: Candidate;
  /** Ended by the attempt. */
  readonly permit: Permit;
  /** Set when the attempt is followed. */
  readonly trace?: Pick<AttemptTrace, "note"> | undefined;
}

/**
 * Reads a successful answer to its end and sends the client everything that it may see before the settlement.
 * Throws `UpstreamFault`, or the fault of the connection.
 */
export function relay(
  gateway: Gateway,
  answer: Response,
  context: RelayContext,
  timeouts: AttemptTimeouts,
): Promise<Outcome> {
  const { request } = context.held.quote;
  if (request.isBinary) return relayBytes(answer, context, timeouts);
  const isStream = request.stream && !(request.mayComeWhole && isJson(answer));
  return isStream
    ? relayStream(gateway, answer, context, timeouts)
    : relayWhole(gateway, answer, context, timeouts);
}

function isJson({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("application/json") ?? false;
}

async function relayWhole(
  gateway: Gateway,
  answer: Response,
  context: RelayContext,
  timeouts: AttemptTimeouts,
): Promise<Outcome> {
  const { held, reply } = context;
  const { quote, meter } = held;
  const { input, answerBytesMax = 0 } = quote.request;
  const bytesMax = Math.max(ANSWER_BYTES_MAX, answerBytesMax, (input.prompts ?? 1) * VECTOR_BYTES_MAX);
  const body = await readBody(answer, bytesMax, timeouts);
  if (body === undefined) return failed("answer_too_large", { isFinal: true });
  if (body.fault && reply.signal.aborted) throw body.fault;
  const reading = readWhole(gateway, context, body);
  const part = reading instanceof Promise ? await reading : reading;
  meter.add(part);
  if (part.response) context.trace?.note({ ...part.response });
  if (part.unrepresentable) return unrepresentable(part.unrepresentable);
  const { text: ending, contentType } = part;
  return part.isReadable ? { kind: "finished", ending, contentType } : { kind: "empty" };
}

/**
 * Reads a whole answer, also when its connection broke after the last byte. Throws the fault of a partial
 * answer.
 */
function readWhole(
  { bodies }: Gateway,
  context: RelayContext,
  { blocks, fault }: BodyBytes,
): Soon<ReplyPart> {
  const { call, hold } = context.held;
  const { codec } = context.candidate;
  const head = headOf(context);
  const fail = (unreadable: unknown): never => {
    throw fault ?? unreadable;
  };
  try {
    const reading = bodies.readAnswer({
      reader: codec,
      client: call.wire,
      owner: hold.walletId,
      head,
      blocks,
    });
    return reading instanceof Promise ? reading.catch(fail) : reading;
  } catch (unreadable) {
    return fail(unreadable);
  }
}

async function relayStream(
  gateway: Gateway,
  answer: Response,
  context: RelayContext,
  timeouts: AttemptTimeouts,
): Promise<Outcome> {
  const reader = context.candidate.codec.readStream(headOf(context));
  const stream = new RelayedStream(gateway, reader, context, timeouts);
  try {
    await stream.pump(answer);
  } catch (fault) {
    // After its finish an answer is complete, whatever becomes of the connection.
    if (!reader.finished) throw fault;
    timeouts.abort();
  } finally {
    stream.noteResponse();
  }
  if (!reader.finished) throw new UpstreamFault("The answer ended without a finish");
  if (!context.held.meter.isReadable) return { kind: "empty" };
  return endWith(stream.unsentText, reader);
}

/** Some answers prove only at their end to be unrepresentable in the client's format. */
function endWith(unsent: string, reader: ReplyReader): Outcome {
  try {
    return { kind: "finished", ending: unsent + reader.ending() };
  } catch (fault) {
    if (fault instanceof UpstreamFault) return unrepresentable(fault);
    throw fault;
  }
}

function headOf({ held: { call, quote }, candidate, trace }: RelayContext): AnswerHead {
  const { route, printOptions } = candidate;
  const { origin = "" } = printOptions;
  return {
    source: { origin, isClaude: isClaudeModel(route.traits) },
    id: call.id.replaceAll("-", ""),
    createdAtS: call.createdAtS,
    inputTokens: estimateInputTokens(quote),
    isFollowed: trace !== undefined,
  };
}

/** One stream that is relayed as it arrives. A class, because closures for each stream cost more memory. */
class RelayedStream implements SseListener {
  /**
   * Text that the client gets next. Kept until the first output, so that another candidate can still answer.
   */
  unsentText = "";
  /** Bytes since the client was last sent text, or the meter last got generated text. */
  #unsentBytes = 0;
  readonly #gateway: Gateway;
  readonly #reader: ReplyReader;
  readonly #context: RelayContext;
  readonly #meter: Meter;
  readonly #timeouts: AttemptTimeouts;
  readonly #decoder: SseDecoder;
  readonly #response: ResponseReader | undefined;

  constructor(gateway: Gateway, reader: ReplyReader, context: RelayContext, timeouts: AttemptTimeouts) {
    this.#gateway = gateway;
    this.#reader = reader;
    this.#context = context;
    this.#meter = context.held.meter;
    this.#timeouts = timeouts;
    this.#decoder = createSseDecoder(context.held.quote.request.eventCharsMax);
    const { trace, candidate } = context;
    this.#response = trace && new ResponseReader(candidate.codec.format.surface);
  }

  /** Adds what the answer said of itself to the trace, if there is one. */
  noteResponse(): void {
    if (this.#response) this.#context.trace?.note({ ...this.#response.facts() });
  }

  /** Reads to the end. Throws {@link UpstreamFault} when it would have to keep above 32 MiB. */
  async pump(answer: Response): Promise<void> {
    const body = answer.body?.getReader();
    for (let ended = body === undefined; !ended && !this.#reader.done; ) {
      const chunk = await body?.read();
      // After its finish an upstream has one short limit, whatever else it sends.
      if (!this.#reader.finished) this.#timeouts.progress();
      ended = chunk?.done ?? true;
      this.#unsentBytes += chunk?.value?.byteLength ?? 0;
      if (Math.max(this.#unsentBytes, this.#meter.generatedChars) > ANSWER_BYTES_MAX)
        throw new UpstreamFault("The answer is too long");
      try {
        const reading = this.#readChunk(chunk?.value);
        if (reading !== undefined) await reading;
        if (this.#reader.finished) this.#timeouts.finished();
      } finally {
        // Also after a fault in this chunk: the events before it were generated, and are charged.
        const room = this.#meter.hasOutput ? this.#sendOn() : undefined;
        if (room !== undefined) await this.#timeouts.untilRead(room);
      }
    }
    if (!this.#reader.finished) this.#reader.end?.();
    if (body && this.#reader.done) drainForReuse(body);
  }

  read(event: SseEvent): void {
    this.#take(this.#reader.read(event));
    this.#response?.read(event.data);
  }

  readText(text: string, start: number): number {
    const part = this.#reader.readRepeated?.(text, start);
    if (part) this.#take(part);
    return part?.end ?? start;
  }

  #take(part: ReplyPart): void {
    this.#meter.add(part);
    this.unsentText += part.text;
    if (part.generated !== "") this.#unsentBytes = 0;
  }

  /**
   * Decodes and meters one chunk, or the end of the body when it is given none. Returns a promise where it has
   * to yield: a large chunk is cut, which is as large as what waited in the kernel.
   */
  #readChunk(bytes: Uint8Array | undefined): void | Promise<void> {
    if (bytes && bytes.byteLength > PIECE_BYTES_MAX) return this.#readInPieces(bytes);
    return this.#readPiece(bytes);
  }

  async #readInPieces(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.byteLength; start += PIECE_BYTES_MAX)
      await this.#readPiece(bytes.subarray(start, start + PIECE_BYTES_MAX));
  }

  #readPiece(bytes: Uint8Array | undefined): void | Promise<void> {
    const { walletId } = this.#context.held.hold;
    return this.#gateway.cooperativeYield.run(walletId, () => this.#decoder.decode(bytes, this));
  }

  /**
   * Records that the upstream has output, hidden or not, and sends the text that the client may see. Returns
   * the promise of room while the client reads too slowly.
   */
  #sendOn(): Promise<void> | undefined {
    const { reply, permit } = this.#context;
    this.#timeouts.began();
    permit.began();
    if (this.unsentText === "") return undefined;
    const text = this.unsentText;
    this.unsentText = "";
    this.#unsentBytes = 0;
    this.#meter.commit();
    return reply.write(text);
  }
}

/** After the last event, waits up to 1 s for the end of the body. The connection can then be reused. */
function drainForReuse(body: ReadableStreamDefaultReader<Uint8Array>): void {
  const cancel = () => body.cancel().catch(() => undefined);
  const timer = platform.setTimeout(cancel, LINGER_MS);
  body
    .read()
    .then(({ done }) => (done ? undefined : cancel()))
    .catch(() => undefined)
    .finally(() => platform.clearTimeout(timer));
}
