import type { FinishReason, UsageEvent } from "../../domain/chat-event.ts";
import { inputTokensOf, isCount, isCounted, totalTokensOf, type Usage } from "../../domain/usage.ts";
import type { ReplyHead } from "../codecs.ts";
import { isJsonObject, type JsonObject } from "../json/read.ts";
import type { EchoedFields } from "../model-request.ts";
import { readDetails, splitUsage } from "../openai-usage.ts";
import { printSse } from "../sse.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { NOTHING_ECHOED } from "./ingress/echoed-fields.ts";

/** The state of a response when it is printed. */
export interface Progress {
  readonly status: "in_progress" | "completed" | "incomplete";
  readonly output: readonly object[];
  /** Why the response is incomplete. */
  readonly reason: string | undefined;
  readonly usage: UsageEvent | undefined;
}

/** The state of a response at its start. */
export const BEGUN: Progress = { status: "in_progress", output: [], reason: undefined, usage: undefined };

/**
 * Prints a response object with every member of the format, empty ones included, and the fields that it
 * echoes.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function printResponse(
  head: ReplyHead,
  { members: echoed }: EchoedFields,
  progress: Progress,
): string {
  const { output, reason, usage } = progress;
  const own = {
    ...identityOf(`resp_${head.id}`, head.createdAtS),
    status: progress.status,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: head.request.model,
    output,
    usage: printUsage(usage),
  };
  return join(own, echoed);
}

/**
 * Prints the response object of a stream that failed or, without a failure, of one that begins. Only the
 * model of the request is known here, so that every echoed field has its default.
 */
export function printFailure(
  { requestId, model }: { readonly requestId: string; readonly model: string },
  failure: { readonly code: string; readonly message: string } | undefined,
): string {
  const own = {
    ...identityOf(`resp_${requestId.replaceAll("-", "")}`, timeOf(requestId)),
    status: failure ? "failed" : "in_progress",
    error: failure ?? null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
  };
  return join(own, NOTHING_ECHOED.members);
}

/** Prints a stream event that carries a whole response; `response` is JSON. */
export function printResponseEvent(
  type: `response.${string}`,
  { sequenceNumber, response }: { readonly sequenceNumber: number; readonly response: string },
): string {
  const data = `{"type":"${type}","sequence_number":${sequenceNumber},"response":${response}}`;
  return printSse({ event: type, data });
}

function identityOf(id: string, createdAtS: number) {
  // `completed_at` stays null because the formats know no clock.
  return { id, object: "response", created_at: createdAtS, completed_at: null };
}

function join(own: object, echoed: string): string {
  return `${JSON.stringify(own).slice(0, -1)},${echoed}}`;
}

/** Returns Unix seconds. A request id begins with its time in milliseconds. */
function timeOf(requestId: string): number {
  const ms = Number.parseInt(requestId.replaceAll("-", "").slice(0, 12), 16);
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

/**
 * Reads the usage of a response as {@link splitUsage} does. Returns `undefined` when it is not an object.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function readUsage(usage: unknown): Usage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { reasoning_tokens: reasoning } = readDetails(usage.output_tokens_details);
  return splitUsage(usage, {
    input: usage.input_tokens,
    output: usage.output_tokens,
    inputDetails: usage.input_tokens_details,
    reasoning: isCount(reasoning) ? reasoning : undefined,
  });
}

/** Returns usage for a client, or null when the upstream reported none or implausible counts. */
function printUsage(reported: UsageEvent | undefined): object | null {
  if (!reported || !isCounted(reported.usage)) return null;
  const { usage, reasoningTokens } = reported;
  return {
    input_tokens: inputTokensOf(usage),
    input_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      cache_write_tokens: usage.cacheWriteTokens + usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: totalTokensOf(usage),
  };
}

/** Values of `status` in a finished response. Some hosts leave it out. */
const FINISHED: readonly unknown[] = ["completed", "incomplete", null, undefined];

/** Throws {@link UpstreamFault} for a response that failed, was cancelled or has not finished. */
export function requireFinished(response: JsonObject): void {
  if (response.error || !FINISHED.includes(response.status))
    throw new UpstreamFault("The response is not finished");
}

/** Whether a content filter cut the response off. Such a response counts as readable even without text. */
export function isFiltered({ incomplete_details: details }: JsonObject): boolean {
  return isJsonObject(details) && details.reason === "content_filter";
}

/** How a response ended. */
interface FinishStatus {
  readonly status: "completed" | "incomplete";
  /** Why the response is incomplete. */
  readonly reason: string | undefined;
}

/**
 * Returns the `status` and the `incomplete_details.reason` for a finish reason.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function finishStatusOf(reason: FinishReason): FinishStatus {
  if (reason === "length") return { status: "incomplete", reason: "max_output_tokens" };
  if (reason === "content_filter") return { status: "incomplete", reason };
  return { status: "completed", reason: undefined };
}
