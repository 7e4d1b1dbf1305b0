import type { FinishReason } from "../../domain/chat-event.ts";
import { isJsonObject, type JsonObject } from "../json/read.ts";
import { UpstreamFault } from "../upstream-fault.ts";

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
