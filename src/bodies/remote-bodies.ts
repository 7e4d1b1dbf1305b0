import { GatewayError } from "../errors.ts";
import type { RequestHead } from "../wire/model-request.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { UpstreamFault } from "../wire/upstream-fault.ts";
import { createWorkerQueue, type WorkerQueue, type WorkerQueueOptions } from "../workers/worker-queue.ts";
import type { Body, NewAnswer, NewBody } from "./body.ts";
import {
  type BodyQuestion,
  bufferOf,
  deserializeError,
  type Job,
  type JobResult,
  type Results,
  type SerializedPlan,
} from "./body-jobs.ts";
import { factsOf, type Planned } from "./open-body.ts";

export interface RemoteOptions
  extends Pick<WorkerQueueOptions<Job>, "script" | "jobMsMax">,
    Required<Pick<WorkerQueueOptions<Job>, "idleMs">> {
  /** Bodies that may wait to be read. More are declined with `too_many_body_bytes`. */
  readonly readingMax: number;
}

/** Bodies and answers that a worker processes. */
interface RemoteBodies {
  /** Rejects with the errors of `WireFormat.parseRequest`, or with `too_many_body_bytes`. */
  read(body: NewBody): Promise<Body>;
  /** Rejects with `UpstreamFault`. */
  readAnswer(answer: NewAnswer): Promise<ReplyPart>;
  close(): void;
}

type BodyQueue = WorkerQueue<Job, JobResult>;

export function createRemoteBodies({ readingMax, ...options }: RemoteOptions): RemoteBodies {
  const queue: BodyQueue = createWorkerQueue({ name: "body worker", buffersOf, ...options });
  let bodies = 0;
  let reading = 0;
  return {
    async read(body) {
      if (reading >= readingMax) throw new GatewayError("too_many_body_bytes", { retryAfterS: 1 });
      reading += 1;
      bodies += 1;
      try {
        return await readRemotely(queue, body, bodies);
      } finally {
        reading -= 1;
      }
    },
    async readAnswer({ reader, client, owner, head, blocks }) {
      const context = { ...reader.context, request: factsOf(reader.context.request) };
      const upstream = reader.format.surface;
      const job = { kind: "answer", client: client.surface, upstream, context, head, blocks } as const;
      const { part, unrepresentable } = resultOf<"answer">(await queue.run(owner, job));
      return unrepresentable
        ? { ...part, unrepresentable: faultOf(deserializeError(unrepresentable)) }
        : part;
    },
    close: queue.close,
  };
}

/**
 * Returns a body whose bytes are in this thread between jobs, and in the worker during a job. The worker
 * keeps nothing that later jobs need. When it dies during a job, the bytes are lost, and every later question
 * rejects.
 */
async function readRemotely(queue: BodyQueue, body: NewBody, bodyId: number): Promise<Body> {
  const { wire, owner } = body;
  const { surface } = wire;
  let blocks: readonly Uint8Array[] | undefined = body.blocks;
  let facts: RequestHead | undefined;
  let latest: Promise<unknown> = Promise.resolve();

  async function askNow<Ask extends BodyQuestion["ask"]>(question: BodyQuestion): Promise<Results[Ask]> {
    if (!blocks) throw new Error("The body was lost with its worker");
    const job = { kind: "body", bodyId, surface, facts, blocks, question } as const;
    blocks = undefined;
    const done = await queue.run(owner, job);
    blocks = done.blocks;
    return resultOf<Ask>(done);
  }
  /** Asks one question at a time: the bytes are in the worker during each. */
  function ask<Ask extends BodyQuestion["ask"]>(question: BodyQuestion): Promise<Results[Ask]> {
    const answer = latest.then(() => askNow<Ask>(question));
    latest = answer.catch(() => undefined);
    return answer;
  }

  const request = await ask<"facts">({ ask: "facts" });
  facts = request;
  return {
    request,
    plan: async (questions) => (await ask<"plan">({ ask: "plan", questions })).map(deserializePlan),
    print: async (upstream, options) => [await ask<"print">({ ask: "print", surface: upstream, options })],
    printCount: async (options) => [await ask<"count">({ ask: "count", options })],
    beginning: () => request.beginning,
    promptText: () => ask<"prompt">({ ask: "prompt" }),
  };
}

function buffersOf({ blocks }: Job): ArrayBuffer[] {
  return blocks.map(bufferOf);
}

/** Throws the error that the worker caught. */
function resultOf<Ask extends keyof Results>(done: JobResult): Results[Ask] {
  if ("error" in done) throw deserializeError(done.error);
  // Safe because the worker answers each question with the result of its kind.
  return done.result as Results[Ask];
}

function deserializePlan(plan: SerializedPlan): Planned {
  return "untranslatable" in plan ? { untranslatable: deserializeError(plan.untranslatable) } : plan;
}

function faultOf(error: unknown): UpstreamFault {
  return error instanceof UpstreamFault ? error : new UpstreamFault("The answer cannot be represented");
}
