import { UpstreamFault } from "../wire-protocol.ts";

/**
 * Why a message finished, `undefined` while it has not. New reasons come with new models and clients take
 * them as they are, so the word is not judged. Throws {@link UpstreamFault} for an error in its place.
 */
export function readStopReason(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" || value === "error")
    throw new UpstreamFault("The message ended in an error");
  return value;
}

/** A refusal is readable though it may hold no text. */
export function isRefusal(stopReason: string | undefined): boolean {
  return stopReason === "refusal";
}
