import { createHealth } from "../upstream/cooldown.ts";
import type { Upstream, UpstreamCall, UpstreamTimeouts } from "../upstream/upstream.ts";
import { COUNT_PATH, printCount } from "../wire/anthropic-messages/count-tokens.ts";
import { isJsonObject, type JsonObject, parseJsonObject } from "../wire/json/read.ts";
import { composeDemoAnswer, countDemoInput, type DemoAnswer } from "./demo-answer.ts";
import { printDemoMessage, streamDemoMessage } from "./demo-anthropic.ts";
import { printDemoEmbeddings } from "./demo-embeddings.ts";
import { printDemoChat, streamDemoChat } from "./demo-openai.ts";

export interface DemoOptions {
  readonly now?: () => number;
  /** Pause before each piece of a stream, in milliseconds; 0 still gives the event loop its turn. */
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
 * A model in this process that says back what the user said, in both protocols, and embeds: no network, no key,
 * the same words for the same request. Streams make an event only when the reader asks for one.
 */
export function createDemoUpstream({ now = Date.now, pauseMs = 0 }: DemoOptions = {}): Upstream {
  let answers = 0;

  return {
    name: "demo",
    surfaces: ["chat", "messages", "embeddings"],
    timeouts: TIMEOUTS,
    outputLimitField: undefined,
    health: createHealth({ failuresMax: Number.POSITIVE_INFINITY, clock: () => performance.now() }),

    async send(call, { signal, connected }) {
      signal.throwIfAborted();
      connected();
      const printed = await call.body.take();
      const body = parseJsonObject(typeof printed === "string" ? printed : new TextDecoder().decode(printed));
      if (body === undefined) return refusal("The body is no JSON object.");
      if (call.path === COUNT_PATH) return jsonResponse(printCount(countDemoInput(body)), 200);
      if (call.surface === "embeddings") return embed(body);

      answers += 1;
      const createdAtMs = now();
      const id = `demo${createdAtMs.toString(36)}${answers.toString(36)}`;
      const createdAtS = Math.floor(createdAtMs / 1000);
      const answer = composeDemoAnswer(body, outputTokensMaxOf(body), { id, createdAtS });
      const { whole, frames } = printAnswer(call, body, answer);
      if (!call.stream) return jsonResponse(whole(), 200);
      const headers = { "content-type": "text/event-stream", "cache-control": "no-cache" };
      return new Response(streamFrames(frames, { signal, pauseMs }), { headers });
    },
  };
}

function embed(body: JsonObject): Response {
  const embeddings = printDemoEmbeddings(body);
  return embeddings === undefined
    ? refusal("There are not so many dimensions.")
    : jsonResponse(embeddings, 200);
}

function printAnswer({ surface }: UpstreamCall, body: JsonObject, answer: DemoAnswer) {
  if (surface === "messages") {
    return { whole: () => printDemoMessage(answer), frames: streamDemoMessage(answer) };
  }
  const options = { choices: readPositive(body.n) ?? 1, includesUsage: includesUsage(body) };
  return { whole: () => printDemoChat(answer, options), frames: streamDemoChat(answer, options) };
}

function streamFrames(
  frames: Iterator<string>,
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
      const next = frames.next();
      if (!next.done) return controller.enqueue(encoder.encode(next.value));
      closed.abort();
      controller.close();
    },
    cancel: () => closed.abort(),
  };
  // A mark of 0 makes an event only once it is asked for, so a slow reader holds the model up.
  return new ReadableStream(source, { highWaterMark: 0 });
}

function pause(ms: number): Promise<void> {
  return ms > 0 ? Bun.sleep(ms) : new Promise((resolve) => setImmediate(resolve));
}

function refusal(message: string): Response {
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
