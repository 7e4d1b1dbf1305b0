import { parentPort } from "node:worker_threads";
import { bytesOf, decodeBlocks } from "../domain/byte-blocks.ts";
import { findExchange } from "../wire/protocol-pair.ts";
import { WIRES } from "../wire/registry.ts";
import { decodeBody } from "./body.ts";
import { type Job, type JobResult, type Results, type SentPart, type SentPlan, sendError } from "./body-jobs.ts";
import { factsOf, type OpenBody, openBody, type Planned } from "./open-body.ts";

type BodyJob = Extract<Job, { kind: "body" }>;
type AnswerJob = Extract<Job, { kind: "answer" }>;

/** The steps of one request follow each other within milliseconds where nobody else wants anything. */
const KEEP_MS = 250;
/** Of a larger body nothing is kept: its text, values and print together take six times as much. */
const KEEP_BYTES_MAX = 2 * 1024 * 1024;

/** The body of the latest job, as long as it is worth its memory. Only a short cut: any job can be done without. */
let latest: { readonly bodyId: number; readonly body: OpenBody } | undefined;
let forgetting: Timer | undefined;

parentPort?.on("message", (job: Job) => {
  clearTimeout(forgetting);
  const isLarge = bytesOf(job.blocks) > KEEP_BYTES_MAX;
  const done = perform(job);
  parentPort?.postMessage(done, buffersOf(done));
  if (isLarge) forgetNow();
  else forgetting = setTimeout(forget, KEEP_MS);
});

function forget(): void {
  latest = undefined;
}

/** Collected at once, or the garbage of several large bodies would lie beside each other. */
function forgetNow(): void {
  forget();
  Bun.gc(true);
}

function perform(job: Job): JobResult {
  try {
    if (job.kind === "answer") return { result: readAnswer(job), blocks: [] };
    return { result: answerQuestion(job), blocks: job.blocks };
  } catch (thrown) {
    return { error: sendError(thrown), blocks: job.kind === "body" ? job.blocks : [] };
  }
}

function answerQuestion(job: BodyJob): Results[keyof Results] {
  const { question } = job;
  const body = open(job);
  switch (question.ask) {
    case "facts":
      return factsOf(body.request);
    case "plan":
      return body.plan(question.questions).map(sendPlan);
    case "print":
      return new TextEncoder().encode(body.print(question.surface, question.options));
    case "count":
      return new TextEncoder().encode(body.printCount(question.model, question.betas));
    case "prompt":
      return body.request.promptText();
  }
}

function open({ bodyId, surface, facts, blocks }: BodyJob): OpenBody {
  if (latest?.bodyId === bodyId) return latest.body;
  latest = undefined;
  const body = openBody(WIRES[surface], decodeBody(blocks), facts);
  latest = { bodyId, body };
  return body;
}

function sendPlan(planned: Planned): SentPlan {
  if ("refusal" in planned) return { refusal: sendError(planned.refusal) };
  const { context, textBytes } = planned;
  return { textBytes, context: { ...context, request: factsOf(context.request) } };
}

function readAnswer({ client, upstream, context, head, blocks }: AnswerJob): SentPart {
  const exchange = findExchange(WIRES[client], [upstream]);
  if (!exchange) throw new Error(`No way from ${client} to ${upstream}`);
  const text = decodeBlocks(blocks, { fatal: false });
  const { unsayable, ...part } = exchange.answers(context).readWhole(head, text);
  return { part, unsayable: unsayable && sendError(unsayable) };
}

/** Buffers that change hands instead of being copied. */
function buffersOf(done: JobResult): ArrayBuffer[] {
  const buffers = done.blocks.map(bufferOf);
  if ("result" in done && done.result instanceof Uint8Array) buffers.push(done.result.buffer);
  return buffers;
}

function bufferOf({ buffer }: Uint8Array): ArrayBuffer {
  if (!(buffer instanceof ArrayBuffer)) throw new Error("A block shares its memory");
  return buffer;
}
