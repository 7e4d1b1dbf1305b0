import { bytesOf, decodeBlocks } from "../domain/byte-blocks.ts";
import type { Surface } from "../domain/model.ts";
import { GatewayError } from "../errors.ts";
import type { CountOptions } from "../wire/anthropic-messages/count-tokens.ts";
import type { PrintOptions, WireFormat } from "../wire/format.ts";
import { type JsonMeasure, measureJson } from "../wire/json/scan.ts";
import type { ModelRequest, RequestHead } from "../wire/model-request.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { UpstreamFault } from "../wire/upstream-fault.ts";
import { createWorkerQueue, type WorkerQueue, type WorkerQueueOptions } from "../workers/worker-queue.ts";
import { type Body, decodeBody, type NewAnswer, type NewBody, type Printed, type Soon } from "./body.ts";
import {
  type BodyQuestion,
  bufferOf,
  deserializeError,
  IDLE_MS,
  JOB_MS_MAX,
  type Job,
  type JobResult,
  type Results,
  type SerializedPlan,
} from "./body-jobs.ts";
import type { CooperativeYield } from "./cooperative-yield.ts";
import { createForms } from "./form-body.ts";
import { factsOf, type OpenBody, openBody, type Planned, type PlanQuestion } from "./open-body.ts";

/**
 * Reads request bodies and whole answers without blocking the event loop. What may take tens of milliseconds at
 * most is read in this thread, with yields between owners: up to 128 KiB, and bodies up to 1 MiB that are little
 * more than text. All others are read in a worker, and so are forms of every size.
 */
export interface Bodies {
  /** Throws the errors of `WireFormat.parseRequest`, or `too_many_body_bytes` when too many bodies wait. */
  read(body: NewBody): Soon<Body>;
  /** Throws `UpstreamFault`. */
  readAnswer(answer: NewAnswer): Soon<ReplyPart>;
  /** Stops the workers. */
  close(): void;
}

interface BodiesOptions extends RemoteOptions {
  /** Larger bodies go to the worker. */
  readonly inProcessBytesMax: number;
}

const DEFAULTS: BodiesOptions = {
  inProcessBytesMax: 1024 * 1024,
  script: new URL("./body-worker.ts", import.meta.url),
  jobMsMax: JOB_MS_MAX,
  idleMs: IDLE_MS,
  readingMax: 1_000,
};

/** Parsing, measuring and printing the worst body of this size takes 15 to 35 ms on a machine of 2026. */
const COSTLY_BYTES_MAX = 128 * 1024;
/** As much structure as the worst body of 128 KiB has. Text costs a hundredth of it. */
const TEXT_MAX: JsonMeasure = { values: 64_000, members: 16_000 };

export function createBodies(
  cooperativeYield: CooperativeYield,
  options: Partial<BodiesOptions> = {},
): Bodies {
  const { inProcessBytesMax, ...remote } = { ...DEFAULTS, ...options };
  const worker = createRemoteBodies(remote);
  const forms = createForms();
  const keep = (open: OpenBody | undefined, body: NewBody): Soon<Body> =>
    open ? new LocalBody(open, body.owner, cooperativeYield) : worker.read(body);
  return {
    read(body) {
      if (body.wire.form) return forms.read(body, body.wire.form);
      if (bytesOf(body.blocks) > inProcessBytesMax) return worker.read(body);
      const { owner, wire, blocks } = body;
      const open = cooperativeYield.run(owner, () => openHere(wire, blocks));
      return open instanceof Promise ? open.then((each) => keep(each, body)) : keep(open, body);
    },
    readAnswer(answer) {
      if (bytesOf(answer.blocks) > Math.min(COSTLY_BYTES_MAX, inProcessBytesMax))
        return worker.readAnswer(answer);
      const { reader, owner, head, blocks } = answer;
      return cooperativeYield.run(owner, () =>
        reader.readWhole(head, decodeBlocks(blocks, { fatal: false })),
      );
    },
    close() {
      worker.close();
      forms.close();
    },
  };
}

/** Opens a body; `undefined` for one that is too costly for this thread. */
function openHere(wire: WireFormat, blocks: readonly Uint8Array[]): OpenBody | undefined {
  const text = decodeBody(blocks);
  if (text.length <= COSTLY_BYTES_MAX) return openBody(wire, text);
  const measured = measureJson(text, TEXT_MAX);
  return measured && openBody(wire, text, measured);
}

/** A body that is cheap enough for this thread. A class, because closures for each request cost more. */
class LocalBody implements Body {
  readonly request: ModelRequest;
  readonly #body: OpenBody;
  readonly #owner: string;
  readonly #yield: CooperativeYield;

  constructor(body: OpenBody, owner: string, cooperativeYield: CooperativeYield) {
    this.request = body.request;
    this.#body = body;
    this.#owner = owner;
    this.#yield = cooperativeYield;
  }

  plan(questions: readonly PlanQuestion[]): Soon<readonly Planned[]> {
    return this.#yield.run(this.#owner, () => this.#body.plan(questions));
  }

  print(surface: Surface, options: PrintOptions): Soon<Printed> {
    return this.#yield.run(this.#owner, () => this.#body.print(surface, options));
  }

  printCount(options: CountOptions): Soon<Printed> {
    return this.#yield.run(this.#owner, () => this.#body.printCount(options));
  }

  beginning(): number | undefined {
    return this.#body.beginning();
  }

  promptText(): Soon<string> {
    return this.#yield.run(this.#owner, () => this.#body.request.promptText());
  }
}

interface RemoteOptions
  extends Pick<WorkerQueueOptions<Job>, "script" | "jobMsMax">,
    Required<Pick<WorkerQueueOptions<Job>, "idleMs">> {
  /** Bodies that may wait to be read. More are declined with `too_many_body_bytes`. */
  readonly readingMax: number;
}

/** Bodies and answers that a worker processes. */
interface RemoteBodies {
  read(body: NewBody): Promise<Body>;
  readAnswer(answer: NewAnswer): Promise<ReplyPart>;
  close(): void;
}

type BodyQueue = WorkerQueue<Job, JobResult>;

function createRemoteBodies({ readingMax, ...options }: RemoteOptions): RemoteBodies {
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
    print: (upstream, options) => ask<"print">({ ask: "print", surface: upstream, options }),
    printCount: (options) => ask<"count">({ ask: "count", options }),
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
