import { parentPort } from "node:worker_threads";
import { bytesOf, decodeBlocks, joinBlocks } from "../domain/byte-blocks.ts";
import { findFormatPair } from "../wire/format-pair.ts";
import { WIRES } from "../wire/registry.ts";
import { decodeBody } from "./body.ts";
import {
  type AnswerJob,
  type BodyJob,
  bufferOf,
  type Job,
  type JobResult,
  type Results,
  type SerializedPart,
  type SerializedPlan,
  serializeError,
} from "./body-jobs.ts";
import { factsOf, type OpenBody, openBody, type Planned, type Printed, reopenBody } from "./open-body.ts";

/** The jobs of one request follow each other within milliseconds when the worker is not busy. */
const KEEP_MS = 250;
/** Largest body that is kept. Its text, parsed values and encoding together take six times its size. */
const KEEP_BYTES_MAX = 2 * 1024 * 1024;

/** The parsed body of the latest job. An optimisation only: every job can parse its body again. */
let latest: { readonly bodyId: number; readonly body: OpenBody } | undefined;
let dropTimer: Timer | undefined;

parentPort?.on("message", (job: Job) => {
  clearTimeout(dropTimer);
  const isLarge = bytesOf(job.blocks) > KEEP_BYTES_MAX;
  const done = perform(job);
  parentPort?.postMessage(done, buffersOf(done));
  if (isLarge) dropNow();
  else dropTimer = setTimeout(drop, KEEP_MS);
});

function drop(): void {
  latest = undefined;
}

/** Collects garbage at once, or that of several large bodies would accumulate. */
function dropNow(): void {
  drop();
  Bun.gc(true);
}

function perform(job: Job): JobResult {
  try {
    if (job.kind === "answer") return { result: readAnswer(job), blocks: [] };
    return { result: answerQuestion(job), blocks: job.blocks };
  } catch (thrown) {
    return { error: serializeError(thrown), blocks: job.kind === "body" ? job.blocks : [] };
  }
}

function answerQuestion(job: BodyJob): Results[keyof Results] {
  const { question } = job;
  const body = open(job);
  switch (question.ask) {
    case "facts":
      return { ...factsOf(body.request), beginning: body.beginning() };
    case "plan":
      return body.plan(question.questions).map(serializePlan);
    case "print":
      return encode(body.print(question.surface, question.options));
    case "count":
      return encode(body.printCount(question.options));
    case "prompt":
      return body.request.promptText();
  }
}

function encode(printed: Printed): Uint8Array<ArrayBuffer> {
  return typeof printed === "string" ? new TextEncoder().encode(printed) : joinBlocks(printed);
}

function open({ bodyId, surface, facts, blocks }: BodyJob): OpenBody {
  if (latest?.bodyId === bodyId) return latest.body;
  latest = undefined;
  const text = decodeBody(blocks);
  const wire = WIRES[surface];
  const body = facts ? reopenBody(wire, text, facts) : openBody(wire, text);
  latest = { bodyId, body };
  return body;
}

function serializePlan(planned: Planned): SerializedPlan {
  if ("untranslatable" in planned) return { untranslatable: serializeError(planned.untranslatable) };
  const { context, textBytes } = planned;
  return { textBytes, context: { ...context, request: factsOf(context.request) } };
}

function readAnswer({ client, upstream, context, head, blocks }: AnswerJob): SerializedPart {
  const pair = findFormatPair(WIRES[client], [upstream]);
  if (!pair) throw new Error(`No codec from ${client} to ${upstream}`);
  const text = decodeBlocks(blocks, { fatal: false });
  const { unrepresentable, ...part } = pair.answers(context).readWhole(head, text);
  return { part, unrepresentable: unrepresentable && serializeError(unrepresentable) };
}

/** Returns the buffers to transfer instead of copying. */
function buffersOf(done: JobResult): ArrayBuffer[] {
  const buffers = done.blocks.map(bufferOf);
  if ("result" in done && done.result instanceof Uint8Array) buffers.push(done.result.buffer);
  return buffers;
}
