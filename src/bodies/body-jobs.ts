import type { Surface } from "../domain/model.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { AnswerContext, AnswerHead, PrintOptions } from "../wire/codecs.ts";
import { type PromptTooLong, type ReplyPart, type RequestFacts, UpstreamFault } from "../wire/protocol.ts";
import type { PlanQuestion } from "./open-body.ts";

/** What is asked of a body, with everything that the answer depends on. */
export type BodyQuestion =
  | { readonly ask: "facts" }
  | { readonly ask: "plan"; readonly questions: readonly PlanQuestion[] }
  | { readonly ask: "print"; readonly surface: Surface; readonly options: PrintOptions }
  | { readonly ask: "count"; readonly model: string; readonly betas: readonly string[] | undefined }
  | { readonly ask: "prompt" };

/** A question about a request's body. The blocks go to the worker and come back with the result. */
interface BodyJob {
  readonly kind: "body";
  /** Names the body in this process, so that two jobs in a row about one need not read it twice. */
  readonly bodyId: number;
  readonly surface: Surface;
  readonly facts: RequestFacts | undefined;
  readonly blocks: readonly Uint8Array[];
  readonly question: BodyQuestion;
}

/** A whole answer of an upstream, to be read for a client. The blocks stay with the worker. */
interface AnswerJob {
  readonly kind: "answer";
  readonly client: Surface;
  readonly upstream: Surface;
  readonly context: AnswerContext;
  readonly head: AnswerHead;
  readonly blocks: readonly Uint8Array[];
}

export type Job = BodyJob | AnswerJob;

/** The plan for one format as it is sent between threads. */
export type SentPlan =
  | { readonly context: AnswerContext; readonly textBytes: number }
  | { readonly refusal: SentError };

/** A part whose fault crosses apart from it. */
export interface SentPart {
  readonly part: ReplyPart;
  readonly unsayable: SentError | undefined;
}

/** What a job comes to, by its question. */
export interface Results {
  readonly facts: RequestFacts;
  readonly plan: readonly SentPlan[];
  readonly print: Uint8Array<ArrayBuffer>;
  readonly count: Uint8Array<ArrayBuffer>;
  readonly prompt: string;
  readonly answer: SentPart;
}

export type JobResult = ({ readonly result: Results[keyof Results] } | { readonly error: SentError }) & {
  readonly blocks: readonly Uint8Array[];
};

/** An error as it crosses threads, which keep neither classes nor what was added to them. */
export type SentError =
  | { readonly cause: Cause; readonly message: string; readonly reason: unknown }
  | { readonly fault: string; readonly promptTooLong: PromptTooLong | undefined }
  | { readonly unknown: unknown };

export function sendError(thrown: unknown): SentError {
  if (thrown instanceof GatewayError) {
    return { cause: thrown.kind, message: thrown.publicMessage, reason: asError(thrown.cause) };
  }
  if (thrown instanceof UpstreamFault) return { fault: thrown.message, promptTooLong: thrown.promptTooLong };
  return { unknown: asError(thrown) };
}

export function receiveError(sent: SentError): unknown {
  if ("cause" in sent) return new GatewayError(sent.cause, { message: sent.message, reason: sent.reason });
  return "fault" in sent ? new UpstreamFault(sent.fault, sent.promptTooLong) : sent.unknown;
}

/** Errors are cloned with their name and stack; anything else may hold what cannot be. */
function asError(thrown: unknown): Error | undefined {
  return thrown instanceof Error ? thrown : undefined;
}
