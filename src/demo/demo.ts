import { decodeBlocks } from "../domain/byte-blocks.ts";
import { createHealth } from "../upstream/cooldown.ts";
import { createSoleKey } from "../upstream/key-pool.ts";
import type { CallObserver, Upstream, UpstreamCall, UpstreamTimeouts } from "../upstream/upstream.ts";
import { COUNT_PATH, printCount } from "../wire/anthropic-messages/count-tokens.ts";
import { isJsonObject, type JsonObject, parseJsonObject, readArray, readText } from "../wire/json/read.ts";
import {
  composeDemoAnswer,
  countDemoInput,
  type DemoAnswer,
  encodeDemoChat,
  encodeDemoMessage,
  streamDemoChat,
  streamDemoMessage,
  tokensOf,
} from "./demo-answer.ts";

interface DemoOptions {
  readonly now?: () => number;
  /** Pause before each event of a stream, in milliseconds; 0 still yields to the event loop. */
  readonly pauseMs?: number;
}

const OUTPUT_TOKENS_DEFAULT = 4096;
const TIMEOUTS: UpstreamTimeouts = {
  connectMs: 1_000,
  firstOutputMs: 30_000,
  idleMs: 30_000,
  totalMs: 900_000,
};

/**
 * An upstream in this process: it echoes the last user message and makes embeddings, without a network or a
 * key. Equal requests get equal answers. A stream makes an event only when its reader asks for one. It speaks
 * messages beside chat because count_tokens, which is never translated, must return the count that the demo
 * model bills.
 */
export function createDemoUpstream({ now = Date.now, pauseMs = 0 }: DemoOptions = {}): Upstream {
  let answers = 0;
  const clock = () => performance.now();
  const health = createHealth({ failuresMax: Number.POSITIVE_INFINITY, clock });

  async function send(call: UpstreamCall, observer: CallObserver): Promise<Response> {
    const { signal } = observer;
    signal.throwIfAborted();
    observer.connected();
    const encoded = await call.body.take();
    const body = parseJsonObject(
      typeof encoded === "string" ? encoded : decodeBlocks(encoded, { fatal: false }),
    );
    if (body === undefined) return badRequest("The body is no JSON object.");
    if (call.path === COUNT_PATH) return jsonResponse(printCount(countDemoInput(body)), 200);
    if (call.surface === "embeddings") return embed(body);

    answers += 1;
    const createdAtMs = now();
    const id = `demo${createdAtMs.toString(36)}${answers.toString(36)}`;
    const createdAtS = Math.floor(createdAtMs / 1000);
    const answer = composeDemoAnswer(body, outputTokensMaxOf(body), { id, createdAtS });
    const { whole, events } = encodeAnswer(call, body, answer);
    if (!call.stream) return jsonResponse(whole(), 200);
    const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
    return new Response(streamEvents(events, { signal, pauseMs }), { headers });
  }

  return {
    name: "demo",
    provider: "tollgate",
    surfacesOf: () => ["chat", "messages", "embeddings"],
    timeouts: TIMEOUTS,
    outputLimitField: undefined,
    keys: [createSoleKey("demo", { health, clock, send })],
  };
}

function embed(body: JsonObject): Response {
  const embeddings = encodeDemoEmbeddings(body);
  return embeddings === undefined
    ? badRequest("The dimensions must be a whole number from 1 to 512.")
    : jsonResponse(embeddings, 200);
}

function encodeAnswer({ surface }: UpstreamCall, body: JsonObject, answer: DemoAnswer) {
  if (surface === "messages") {
    return { whole: () => encodeDemoMessage(answer), events: streamDemoMessage(answer) };
  }
  const options = { choices: readPositive(body.n) ?? 1, includesUsage: includesUsage(body) };
  return { whole: () => encodeDemoChat(answer, options), events: streamDemoChat(answer, options) };
}

function streamEvents(
  events: Iterator<string>,
  { signal, pauseMs }: { signal: AbortSignal; pauseMs: number },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const closed = new AbortController();
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      const abort = () => {
        closed.abort();
        controller.error(signal.reason);
      };
      signal.addEventListener("abort", abort, { once: true, signal: closed.signal });
    },
    async pull(controller) {
      await pause(pauseMs);
      if (closed.signal.aborted) return;
      const next = events.next();
      if (!next.done) return controller.enqueue(encoder.encode(next.value));
      closed.abort();
      controller.close();
    },
    cancel: () => closed.abort(),
  };
  // With a high-water mark of 0, an event is made only when it is read: a slow reader delays the model.
  return new ReadableStream(source, { highWaterMark: 0 });
}

function pause(ms: number): Promise<void> {
  return ms > 0 ? Bun.sleep(ms) : new Promise((resolve) => setImmediate(resolve));
}

function badRequest(message: string): Response {
  return jsonResponse(JSON.stringify({ error: { message } }), 400);
}

function jsonResponse(body: string, status: number): Response {
  return new Response(body, { status, headers: { "content-type": "application/json" } });
}

function outputTokensMaxOf(body: JsonObject): number {
  return readPositive(body.max_completion_tokens) ?? readPositive(body.max_tokens) ?? OUTPUT_TOKENS_DEFAULT;
}

function includesUsage({ stream_options: options }: JsonObject): boolean {
  return isJsonObject(options) && options.include_usage === true;
}

function readPositive(value: unknown): number | undefined {
  return typeof value === "number" && value >= 1 ? value : undefined;
}

const DIMENSIONS_DEFAULT = 64;
const DIMENSIONS_MAX = 512;
/** Dimensions per word. With one, two words that share a dimension would look alike. */
const DIMENSIONS_PER_WORD = 4;
/** Decimal digits that a 32-bit number holds near 1. */
const DIGITS = 8;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Encodes one vector of length 1 for each prompt. Vectors are nearer the more words their prompts share.
 * Returns `undefined` unless `dimensions` is a whole number from 1 to 512.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
function encodeDemoEmbeddings(body: JsonObject): string | undefined {
  const dimensions = Number(body.dimensions ?? DIMENSIONS_DEFAULT);
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > DIMENSIONS_MAX) return undefined;
  const isBase64 = body.encoding_format === "base64";
  let promptTokens = 0;
  const data = promptsOf(body.input).map((words, index) => {
    const vector = new Float32Array(dimensions);
    for (const word of words) {
      promptTokens += 1;
      addWord(vector, word);
    }
    scaleToOne(vector);
    return { object: "embedding", index, embedding: isBase64 ? encodeBase64(vector) : roundNumbers(vector) };
  });
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return JSON.stringify({ object: "list", data, model: readText(body.model), usage });
}

/** Returns the words of every prompt. A token id is one word. */
function promptsOf(input: unknown): readonly Iterable<string>[] {
  if (typeof input === "string") return [tokensOf(input)];
  const list = readArray(input);
  if (typeof list[0] === "number") return [list.map(String)];
  return list.map((prompt) =>
    typeof prompt === "string" ? tokensOf(prompt) : readArray(prompt).map(String),
  );
}

function addWord(vector: Float32Array, word: string): void {
  let hash = FNV_OFFSET;
  for (const character of word.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "") || word) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME);
  }
  for (let left = DIMENSIONS_PER_WORD; left > 0; left--) {
    hash = Math.imul(hash ^ (hash >>> 15), FNV_PRIME) + left;
    const place = (hash >>> 1) % vector.length;
    vector[place] = (vector[place] ?? 0) + (hash & 1 ? 1 : -1);
  }
}

function scaleToOne(vector: Float32Array): void {
  const length = Math.hypot(...vector);
  if (length === 0) vector[0] = 1;
  else for (const [place, value] of vector.entries()) vector[place] = value / length;
}

function roundNumbers(vector: Float32Array): number[] {
  return Array.from(vector, (value) => Number(value.toFixed(DIGITS)));
}

/** Encodes 32-bit little-endian numbers. */
function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.byteLength);
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * vector.BYTES_PER_ELEMENT);
  return bytes.toString("base64");
}
