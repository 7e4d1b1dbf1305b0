import type { ClientSurface, Surface } from "../domain/model.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { AnswerContext, AnswerHead, PrintOptions } from "../wire/format.ts";
import type { CountOptions, RequestHead } from "../wire/model-request.ts";
import type { ReplyPart } from "../wire/reply-part.ts";
import { type PromptTooLong, UpstreamFault } from "../wire/upstream-fault.ts";
import type { PlanQuestion } from "./open-body.ts";

/** Timeout of a job of a worker that reads bodies or forms. */
export const JOB_MS_MAX = 30_000;
/** Time until such a worker without a job is terminated. */
export const IDLE_MS = 120_000;

/** A question about a body, with everything that its answer depends on. */
export type BodyQuestion =
  | { readonly ask: "facts" }
  | { readonly ask: "plan"; readonly questions: readonly PlanQuestion[] }
  | { readonly ask: "print"; readonly surface: Surface; readonly options: PrintOptions }
  | { readonly ask: "count"; readonly options: CountOptions }
  | { readonly ask: "prompt" };

/** A question about a request's body. Its blocks are transferred to the worker and back with the result. */
export interface BodyJob {
  readonly kind: "body";
  /** Identifies the body: the worker parses it once for consecutive jobs. */
  readonly bodyId: number;
  readonly surface: ClientSurface;
  readonly facts: RequestHead | undefined;
  readonly blocks: readonly Uint8Array[];
  readonly question: BodyQuestion;
}

/** A whole answer of an upstream to decode for a client. Its blocks stay in the worker. */
export interface AnswerJob {
  readonly kind: "answer";
  readonly client: ClientSurface;
  readonly upstream: Surface;
  readonly context: AnswerContext;
  readonly head: AnswerHead;
  readonly blocks: readonly Uint8Array[];
}

export type Job = BodyJob | AnswerJob;

/** The plan for one format in a message between threads. */
export type SerializedPlan =
  | { readonly context: AnswerContext; readonly textBytes: number }
  | { readonly untranslatable: SerializedError };

/** A decoded answer in a message between threads, with its fault apart. */
export interface SerializedPart {
  readonly part: ReplyPart;
  readonly unrepresentable: SerializedError | undefined;
}

/** The result of each kind of question. */
export interface Results {
  readonly facts: RequestHead;
  readonly plan: readonly SerializedPlan[];
  readonly print: Uint8Array<ArrayBuffer>;
  readonly count: Uint8Array<ArrayBuffer>;
  readonly prompt: string;
  readonly answer: SerializedPart;
}

export type JobResult = (
  | { readonly result: Results[keyof Results] }
  | { readonly error: SerializedError }
) & {
  readonly blocks: readonly Uint8Array[];
};

/** An error in a message between threads. Structured cloning drops classes and added properties. */
export type SerializedError =
  | { readonly cause: Cause; readonly message: string; readonly reason: unknown }
  | {
      readonly fault: string;
      readonly promptTooLong: PromptTooLong | undefined;
      readonly isFlagged: boolean;
    }
  | { readonly unknown: unknown };

export function serializeError(thrown: unknown): SerializedError {
  if (thrown instanceof GatewayError) {
    return { cause: thrown.kind, message: thrown.publicMessage, reason: asError(thrown.cause) };
  }
  if (thrown instanceof UpstreamFault) {
    const { message, promptTooLong, isFlagged } = thrown;
    return { fault: message, promptTooLong, isFlagged };
  }
  return { unknown: asError(thrown) };
}

export function deserializeError(sent: SerializedError): unknown {
  if ("cause" in sent) return new GatewayError(sent.cause, { message: sent.message, reason: sent.reason });
  return "fault" in sent ? new UpstreamFault(sent.fault, sent.promptTooLong, sent.isFlagged) : sent.unknown;
}

/** Structured cloning keeps the name and stack of an error. Other values may not be cloneable. */
function asError(thrown: unknown): Error | undefined {
  return thrown instanceof Error ? thrown : undefined;
}

/** Returns the memory of a block, which moves between threads. Throws when other threads can access it. */
export function bufferOf({ buffer }: Uint8Array): ArrayBuffer {
  if (!(buffer instanceof ArrayBuffer)) throw new Error("A block shares its memory");
  return buffer;
}
