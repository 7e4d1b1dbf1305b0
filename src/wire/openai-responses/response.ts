import type { FinishReason, UsageEvent } from "../../domain/chat-event.ts";
import type { ReplyHead } from "../codecs.ts";
import type { EchoedFields } from "../model-request.ts";
import { printRepeated } from "./repeated.ts";
import { usageOf } from "./usage.ts";

/** How far a response has come. */
export interface Progress {
  readonly status: "in_progress" | "completed" | "incomplete";
  readonly output: readonly object[];
  /** Why it is incomplete. */
  readonly reason: string | undefined;
  readonly usage: UsageEvent | undefined;
}

export const BEGUN: Progress = { status: "in_progress", output: [], reason: undefined, usage: undefined };

/** What a finish makes of a response. */
export function progressOf(reason: FinishReason): Pick<Progress, "status" | "reason"> {
  if (reason === "length") return { status: "incomplete", reason: "max_output_tokens" };
  if (reason === "content_filter") return { status: "incomplete", reason };
  return { status: "completed", reason: undefined };
}

/** Prints a response with every member that one has, also those that say nothing. */
export function printResponse(head: ReplyHead, { repeated }: EchoedFields, progress: Progress): string {
  const { output, reason, usage } = progress;
  const told = {
    ...namesOf(`resp_${head.id}`, head.createdAtS),
    status: progress.status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: head.request.model,
    output,
    usage: usageOf(usage),
  };
  return join(told, repeated);
}

/** What a stream says of a response that failed or, without a failure, only just began: of its request only the model is known. */
export function printFailure(
  { requestId, model }: { readonly requestId: string; readonly model: string },
  failure: { readonly code: string; readonly message: string } | undefined,
): string {
  const told = {
    ...namesOf(`resp_${requestId.replaceAll("-", "")}`, timeOf(requestId)),
    status: failure ? "failed" : "in_progress",
    error: failure ?? null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
  };
  return join(told, printRepeated({}));
}

function namesOf(id: string, createdAtS: number) {
  // When it is completed nobody here knows.
  return { id, object: "response", created_at: createdAtS, completed_at: null };
}

function join(told: object, repeated: string): string {
  return `${JSON.stringify(told).slice(0, -1)},${repeated}}`;
}

/** Unix seconds. Ids of requests begin with their time in milliseconds. */
function timeOf(requestId: string): number {
  const ms = Number.parseInt(requestId.replaceAll("-", "").slice(0, 12), 16);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}
