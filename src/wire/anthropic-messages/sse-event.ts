import { EVENT_MAX, type JsonObject, parseJsonObject } from "../json/read.ts";
import type { SseEvent } from "../sse.ts";
import { UpstreamFault } from "../upstream-fault.ts";

const EVENT_NAME = /^\w{1,64}$/;

/** What an event says; `undefined` when it is no JSON object. Throws {@link UpstreamFault} for one that reports an error. */
export function parseEvent(event: SseEvent): JsonObject | undefined {
  const parsed = parseJsonObject(event.data, EVENT_MAX);
  if (event.event === "error" || parsed?.type === "error" || parsed?.error) {
    throw new UpstreamFault("The upstream reported an error");
  }
  return parsed;
}

/** The name of an event. Throws {@link UpstreamFault} for what is none. */
export function requireEventType({ type }: JsonObject): string {
  if (typeof type !== "string" || !EVENT_NAME.test(type)) throw new UpstreamFault("An event has no type");
  return type;
}
