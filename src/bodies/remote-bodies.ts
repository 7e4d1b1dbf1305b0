import { GatewayError } from "../errors.ts";
import type { ReplyPart, RequestFacts } from "../wire/protocol.ts";
import { UpstreamFault } from "../wire/protocol.ts";
import type { Body, NewAnswer, NewBody } from "./body.ts";
import { type BodyQuestion, type JobResult, type Results, receiveError, type SentPlan } from "./body-jobs.ts";
import { factsOf, type Planned } from "./open-body.ts";
import { createWorkerQueue, type WorkerQueue, type WorkerQueueOptions } from "../workers/worker-queue.ts";

export interface RemoteOptions extends WorkerQueueOptions {
  /** So many bodies may wait to be read before a new one is refused. */
  readonly readingMax: number;
}

/** Bodies and answers that a worker works on. */
interface RemoteBodies {
  read(body: NewBody): Promise<Body>;
  readAnswer(answer: NewAnswer): Promise<ReplyPart>;
  close(): void;
}

export function createRemoteBodies(options: RemoteOptions): RemoteBodies {
  const queue = createWorkerQueue(options);
  let bodies = 0;
  let reading = 0;
  return {
    async read(body) {
      if (reading >= options.readingMax) throw new GatewayError("too_many_body_bytes", { retryAfterS: 1 });
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
      const upstream = reader.wire.surface;
      const job = { kind: "answer", client: client.surface, upstream, context, head, blocks } as const;
      const { part, unsayable } = resultOf<"answer">(await queue.run(owner, job));
      return unsayable ? { ...part, unsayable: faultOf(receiveError(unsayable)) } : part;
    },
    close: queue.close,
  };
}

/**
 * A body whose bytes lie here between jobs, and with the worker during one: the worker remembers nothing that it could
 * not do without. When it dies over a job, the bytes are gone, and so are later answers.
 */
async function readRemotely(queue: WorkerQueue, body: NewBody, bodyId: number): Promise<Body> {
  const { wire, owner } = body;
  const { surface } = wire;
  let blocks: readonly Uint8Array[] | undefined = body.blocks;
  let facts: RequestFacts | undefined;
  let latest: Promise<unknown> = Promise.resolve();

  async function askNow<Ask extends BodyQuestion["ask"]>(question: BodyQuestion): Promise<Results[Ask]> {
    if (!blocks) throw new Error("The body was lost with its worker");
    const job = { kind: "body", bodyId, surface, facts, blocks, question } as const;
    blocks = undefined;
    const done = await queue.run(owner, job);
    blocks = done.blocks;
    return resultOf<Ask>(done);
  }
  /** One question at a time: the bytes are away during each. */
  function ask<Ask extends BodyQuestion["ask"]>(question: BodyQuestion): Promise<Results[Ask]> {
    const asked = latest.then(() => askNow<Ask>(question));
    latest = asked.catch(() => undefined);
    return asked;
  }

  const request = await ask<"facts">({ ask: "facts" });
  facts = request;
  return {
    request,
    plan: async (questions) => (await ask<"plan">({ ask: "plan", questions })).map(receivePlan),
    print: (upstream, options) => ask<"print">({ ask: "print", surface: upstream, options }),
    printCount: (model, betas) => ask<"count">({ ask: "count", model, betas }),
    promptText: () => ask<"prompt">({ ask: "prompt" }),
  };
}

/** Throws what the worker caught. */
function resultOf<Ask extends keyof Results>(done: JobResult): Results[Ask] {
  if ("error" in done) throw receiveError(done.error);
  // Safe because the worker answers each kind of question with its own kind of result.
  return done.result as Results[Ask];
}

function receivePlan(plan: SentPlan): Planned {
  return "refusal" in plan ? { refusal: receiveError(plan.refusal) } : plan;
}

function faultOf(error: unknown): UpstreamFault {
  return error instanceof UpstreamFault ? error : new UpstreamFault("The answer cannot be said");
}
