import { decodeBlocks } from "../../src/domain/byte-blocks.ts";
import type { Post } from "../../src/upstream/bun-fetch.ts";
import type { CallObserver } from "../../src/upstream/upstream.ts";
import { drawInteger, drawOne } from "../support/seeded-random.ts";
import type { Misfortune } from "./misfortunes.ts";
import type { World } from "./world.ts";

/** What one call of an upstream comes to, as the model beside the simulation needs it. */
export interface AskedCall {
  readonly upstream: string;
  readonly plan: CallPlan;
  /** Whether the connection took the request. */
  isSent: boolean;
  /** Whether any of an answer may have left the upstream. */
  isAnswered: boolean;
  /** Whether the last event or byte has left the upstream. */
  isDelivered: boolean;
}

interface Tokens {
  readonly input: number;
  readonly output: number;
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
export function createSimulatedPost(world: World, name: string): Post {
  return async ({ body }, observer) => {
    const encoded = await body.take();
    const text = typeof encoded === "string" ? encoded : decodeBlocks(encoded, { fatal: true });
    return answerCall(world, name, JSON.parse(text), observer);
  };
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

/** As much of a request in the chat format as its answer depends on. */
interface ChatBody {
  readonly messages: unknown;
  readonly stream?: boolean;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

async function answerCall(
  world: World,
  name: string,
  body: ChatBody,
  observer: CallObserver,
): Promise<Response> {
  const { scheduler, luck } = world;
  const { draw } = scheduler;
  const { signal } = observer;
  signal.throwIfAborted();
  const number = Number(/request (\d+)/.exec(JSON.stringify(body.messages))?.[1]);
  const outputMax = body.max_tokens ?? body.max_completion_tokens ?? 1;
  const plan = planCall(world, outputMax);
  const asked: AskedCall = { upstream: name, plan, isSent: false, isAnswered: false, isDelivered: false };
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
  return body.stream ? streamAnswer(world, asked, signal) : wholeAnswer(world, asked, signal);
}

function planCall({ scheduler: { draw }, luck }: World, outputMax: number): CallPlan {
  const trouble = luck.oneOf(TROUBLES);
  const words = trouble === "upstream_empty" ? 0 : drawInteger(draw, 1, Math.min(outputMax, 30));
  const input = drawInteger(draw, 1, 20);
  const firstMs = trouble === "upstream_late" ? 16_000 + draw() * 60_000 : draw() * 1_500;
  const gapMs = draw() < 0.05 ? draw() * 25_000 : draw() * 200;
  const honest = { prompt_tokens: input, completion_tokens: words, total_tokens: input + words };
  const usage =
    trouble === "upstream_lies"
      ? drawOne(draw, lies(honest))
      : trouble === "upstream_silent_usage"
        ? undefined
        : honest;
  const tokens = usage === honest ? { input, output: words } : undefined;
  return { trouble, tokens, words, usage, firstMs, gapMs };
}

function lies(honest: object): readonly object[] {
  return [
    { ...honest, completion_tokens: -3 },
    { ...honest, completion_tokens: 1.5 },
    { ...honest, completion_tokens: 1e15 },
    { ...honest, prompt_tokens: 1e12 },
    { ...honest, prompt_tokens: "many" },
    { ...honest, prompt_tokens: null },
    {},
  ];
}

function errorAnswer({ scheduler: { draw } }: World): Response {
  const status = drawOne(draw, [500, 503, 429, 529, 401, 404, 408]);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (status === 429 || draw() < 0.2) headers["retry-after"] = String(drawInteger(draw, 0, 20));
  return new Response('{"error":{"message":"no"}}', { status, headers });
}

function wholeAnswer(world: World, asked: AskedCall, signal: AbortSignal): Response {
  const { words, usage } = asked.plan;
  const message = { role: "assistant", content: words === 0 ? null : "word ".repeat(words) };
  const text = JSON.stringify({
    id: "c",
    created: 1,
    object: "chat.completion",
    model: "theirs",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    ...(usage && { usage }),
  });
  const half = Math.floor(text.length / 2);
  return respond(world, asked, {
    signal,
    chunks: [text.slice(0, half), text.slice(half)],
    type: "application/json",
  });
}

function streamAnswer(world: World, asked: AskedCall, signal: AbortSignal): Response {
  const { words, usage } = asked.plan;
  const chunk = (more: object) =>
    `data: ${JSON.stringify({ id: "c", created: 1, object: "chat.completion.chunk", model: "theirs", ...more })}\n\n`;
  const choice = (delta: object, finish: string | null = null) =>
    chunk({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const chunks = [choice({ role: "assistant", content: "" })];
  for (let left = words; left > 0; left -= 3)
    chunks.push(choice({ content: "word ".repeat(Math.min(3, left)) }));
  const end = choice({}, "stop") + (usage ? chunk({ choices: [], usage }) : "");
  const isUnfinished = asked.plan.trouble === "upstream_unfinished";
  if (!isUnfinished)
    chunks.push(world.scheduler.draw() < 0.5 ? `${end}data: [DONE]\n\n` : end, "data: [DONE]\n\n");
  return respond(world, asked, { signal, chunks, type: "text/event-stream" });
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
