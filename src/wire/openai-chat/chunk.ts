import { EVENT_MAX, isJsonObject, type JsonObject, parseJsonObject, readText } from "../json/read.ts";
import { type SseEvent, UpstreamFault } from "../protocol.ts";

export const END_MARK = "[DONE]";
/** More than any request may ask for. */
export const CHOICES_MAX = 128;

const OWN_ID_CHARS = 24;

/** The chunk of an event, `undefined` for what is no JSON. Throws {@link UpstreamFault} for an error in its place. */
export function parseChunk(event: SseEvent): JsonObject | undefined {
  if (event.event === "error") throw new UpstreamFault("The upstream reported an error");
  const chunk = parseJsonObject(event.data, EVENT_MAX);
  if (chunk?.error) throw new UpstreamFault("The upstream reported an error");
  return chunk;
}

/** A choice of a chunk. Throws {@link UpstreamFault} for what is none. */
export function requireChoice(choice: unknown): JsonObject {
  if (!isJsonObject(choice)) throw new UpstreamFault("A choice is no object");
  // Some hosts fail one choice of a chunk; what they say of it is theirs to know.
  if (choice.error) throw new UpstreamFault("A choice is an error");
  return choice;
}

/** Which of the choices that were asked for it is. Throws {@link UpstreamFault} for any other. */
export function readIndex({ index = 0 }: JsonObject, choices: number): number {
  const isIndex = typeof index === "number" && Number.isInteger(index) && index >= 0;
  if (!isIndex || index >= choices) throw new UpstreamFault("A choice has no index");
  return index;
}

/** What tells the calls of one choice of this answer from those of others. */
export function placeOf({ id }: JsonObject, choice: number): string {
  return `${readText(id).slice(-OWN_ID_CHARS)}_${choice}`;
}
