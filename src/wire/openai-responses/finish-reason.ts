import { isJsonObject, type JsonObject } from "../json/read.ts";
import { UpstreamFault } from "../protocol.ts";

/** What a response that is over may call itself; some hosts leave it out. */
const FINISHED: readonly unknown[] = ["completed", "incomplete", null, undefined];

/** Throws {@link UpstreamFault} for a response that failed, was cancelled or is still to come. */
export function requireFinished(response: JsonObject): void {
  if (response.error || !FINISHED.includes(response.status))
    throw new UpstreamFault("The response is not finished");
}

/** A filter's cut is readable though it may leave no text. */
export function isFiltered({ incomplete_details: details }: JsonObject): boolean {
  return isJsonObject(details) && details.reason === "content_filter";
}
