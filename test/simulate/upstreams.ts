import { decodeBlocks } from "../../src/domain/byte-blocks.ts";
import type { Post } from "../../src/upstream/bun-fetch.ts";
import type { CallObserver, UpstreamConfig } from "../../src/upstream/upstream.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import { type AnswerFormat, CHAT, GEMINI, MESSAGES, type Tokens } from "./answers.ts";
import type { Misfortune } from "./misfortunes.ts";
import type { World } from "./world.ts";

/** What one call of an upstream comes to, as the model beside the simulation needs it. */
export interface AskedCall {
  readonly upstream: string;
  /** The key that it was sent with. */
  readonly secret: string;
  readonly plan: CallPlan;
  /** Whether the connection took the request. */
  isSent: boolean;
  /** Whether any of an answer may have left the upstream. */
  isAnswered: boolean;
  /** Whether the last event or byte has left the upstream. */
  isDelivered: boolean;
}

/** What an upstream is going to do with a call. */
interface CallPlan {
  readonly trouble: Misfortune | undefined;
  /** The tokens that it reports; `undefined` when it reports nothing that can be charged as it is. */
  readonly tokens: Tokens | undefined;
  readonly words: number;
  readonly usage: object | undefined;
  readonly firstMs: number;
  readonly gapMs: number;
}

/** What sends the requests of a gateway to an upstream: the world in place of the network. */
export function createSimulatedPost(world: World, { name, protocol }: UpstreamConfig): Post {
  const format = FORMATS[protocol] ?? CHAT;
  return async ({ url, body, headers }, observer) => {
    const encoded = await body.take();
    const text = typeof encoded === "string" ? encoded : decodeBlocks(encoded, { fatal: true });
    const key = headers.get("x-api-key") ?? headers.get("x-goog-api-key");
    const secret = key ?? headers.get("authorization")?.replace("Bearer ", "") ?? "";
    const sent = JSON.parse(text);
    const asked = protocol === "gemini" ? askedOfGemini(url, sent) : sent;
    return answerCall(world, { name, format, secret, body: asked }, observer);
  };
}

const FORMATS: Readonly<Record<string, AnswerFormat>> = { anthropic: MESSAGES, gemini: GEMINI };

/** A call in Gemini's form, whose path has the kind of answer. */
function askedOfGemini(
  url: string,
  body: { readonly contents: unknown; readonly generationConfig: { readonly maxOutputTokens: number } },
): Called["body"] {
  const { contents: messages, generationConfig } = body;
  return { messages, stream: url.includes(":stream"), max_tokens: generationConfig.maxOutputTokens };
}

const TROUBLES = [
  "upstream_refuses",
  "upstream_resets",
  "upstream_never",
  "upstream_late",
  "upstream_error",
  "upstream_half",
  "upstream_unfinished",
  "upstream_stalls",
  "upstream_empty",
  "upstream_hangs",
  "upstream_lies",
  "upstream_silent_usage",
] as const satisfies readonly Misfortune[];

interface Called {
  readonly name: string;
  readonly format: AnswerFormat;
  /** The key that the call was sent with. */
  readonly secret: string;
  /** As much of the request as its answer depends on. */
  readonly body: {
    readonly messages: unknown;
    readonly stream?: boolean;
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
  };
}

async function answerCall(world: World, called: Called, observer: CallObserver): Promise<Response> {
  const { name, format, secret, body } = called;
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  const { signal } = observer;
  signal.throwIfAborted();
  const number = Number(/request (\d+)/.exec(JSON.stringify(body.messages))?.[1]);
  const outputMax = body.max_tokens ?? body.max_completion_tokens ?? 1;
  const plan = planCall(world, format, outputMax);
  const asked: AskedCall = {
    upstream: name,
    secret,
    plan,
    isSent: false,
    isAnswered: false,
    isDelivered: false,
  };
  await wait(world, 0.2 + draw() * 20, signal);
  if (plan.trouble === "upstream_refuses") {
    throw Object.assign(new Error("refused"), { code: "ConnectionRefused" });
  }
  const request = world.requests.get(number);
  request?.asked.push(asked);
  if (request) request.askedAtMs = Math.min(request.askedAtMs, scheduler.monotonicMs);
  const checkKey = () => request && world.model.keys.checkUse(request);
  checkKey();
  signal.addEventListener("abort", checkKey, { once: true });
  scheduler.note(`asks ${name} for request ${number}: ${plan.trouble ?? "answers"}`);
  asked.isSent = true;
  observer.connected();
  if (luck.strikes("death_at_a_call")) world.kill(scheduler.current);
  if (plan.trouble === "upstream_never") await wait(world, 1e9, signal);
  await wait(world, plan.firstMs, signal);
  checkKey();
  asked.isAnswered = true;
  if (plan.trouble === "upstream_resets") throw resetError();
  if (plan.trouble === "upstream_error") return errorAnswer(world);
  const isFinished = plan.trouble !== "upstream_unfinished";
  const parts = { ...plan, isFinished };
  return body.stream
    ? respond(world, asked, { signal, chunks: format.stream(parts, draw), type: "text/event-stream" })
    : respond(world, asked, { signal, chunks: halvesOf(format.whole(parts)), type: "application/json" });
}

function halvesOf(text: string): readonly string[] {
  const half = Math.floor(text.length / 2);
  return [text.slice(0, half), text.slice(half)];
}

function planCall(world: World, format: AnswerFormat, outputMax: number): CallPlan {
  const { draw } = world.scheduler;
  const { luck } = world;
  const trouble = luck.oneOf(TROUBLES);
  const words = trouble === "upstream_empty" ? 0 : drawInteger(draw, 1, Math.min(outputMax, 30));
  const input = drawInteger(draw, 1, 20);
  const firstMs = trouble === "upstream_late" ? 16_000 + draw() * 60_000 : draw() * 1_500;
  const gapMs = draw() < 0.05 ? draw() * 25_000 : draw() * 200;
  const tokens = { input, output: words };
  if (trouble === "upstream_silent_usage")
    return { trouble, tokens: undefined, words, usage: undefined, firstMs, gapMs };
  const isLie = trouble === "upstream_lies";
  const usage = isLie ? drawOne(draw, format.lies(tokens)) : format.honest(tokens);
  return { trouble, tokens: isLie ? undefined : tokens, words, usage, firstMs, gapMs };
}

function errorAnswer({ scheduler: { draw } }: World): Response {
  const status = drawOne(draw, [500, 503, 429, 529, 401, 404, 408]);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (status === 429 || draw() < 0.2) headers["retry-after"] = String(drawInteger(draw, 0, 20));
  return new Response('{"error":{"message":"no"}}', { status, headers });
}

interface Answered {
  readonly signal: AbortSignal;
  readonly chunks: readonly string[];
  readonly type: string;
}

/** Sends chunks one by one, and ends as the plan says. */
function respond(world: World, asked: AskedCall, { signal, chunks, type }: Answered): Response {
  const { scheduler } = world;
  const { plan } = asked;
  const { trouble, gapMs } = plan;
  const encoder = new TextEncoder();
  const isBroken = trouble === "upstream_half" || trouble === "upstream_stalls";
  const brokenAfter = isBroken ? drawInteger(scheduler.draw, 0, chunks.length - 1) : Number.POSITIVE_INFINITY;
  let isOver = false;
  let cancel = () => {};
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (how: () => void) => {
        if (isOver) return;
        isOver = true;
        cancel();
        how();
      };
      signal.addEventListener("abort", () => end(() => controller.error(signal.reason)));
      const next = (place: number) => {
        if (isOver) return;
        if (place === brokenAfter) {
          if (trouble === "upstream_half") end(() => controller.error(resetError()));
          return;
        }
        const chunk = chunks[place];
        if (chunk === undefined) {
          if (trouble !== "upstream_hangs") end(() => controller.close());
          return;
        }
        controller.enqueue(encoder.encode(chunk));
        if (place >= chunks.length - 2) asked.isDelivered = true;
        cancel = scheduler.after(gapMs * scheduler.draw(), "an upstream sends", () => next(place + 1));
      };
      next(0);
    },
    cancel() {
      isOver = true;
      cancel();
    },
  });
  return new Response(stream, { headers: { "content-type": type } });
}

function resetError(): Error {
  return Object.assign(new TypeError("reset"), { code: "ECONNRESET" });
}

/** Waits on the current machine. Rejects with the reason of an abort. */
function wait({ scheduler }: World, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const cancel = scheduler.after(ms, "an upstream answers", () => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    const abort = () => {
      cancel();
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
  });
}
