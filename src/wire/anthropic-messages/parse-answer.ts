import { ANSWER_MAX, EVENT_MAX, isJsonObject, type JsonObject, parseJsonObject } from "../json/read.ts";
import type { SseEvent } from "../sse.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { readStopReason } from "./finish-reason.ts";

const EVENT_NAME = /^\w{1,64}$/;

/** A complete message of an upstream. */
interface Message {
  readonly body: JsonObject;
  /** The content blocks; elements that are not objects are omitted. */
  readonly blocks: readonly JsonObject[];
  readonly stopReason: string;
}

/**
 * Parses a whole message. Throws {@link UpstreamFault} for any other JSON and for a message without a stop
 * reason.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function parseMessage(text: string): Message {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined || body.error || body.type === "error" || !Array.isArray(body.content)) {
    throw new UpstreamFault("The answer is no message");
  }
  const stopReason = readStopReason(body.stop_reason);
  if (stopReason === undefined) throw new UpstreamFault("The message has no stop reason");
  return { body, blocks: body.content.filter(isJsonObject), stopReason };
}

/**
 * Parses the data of a stream event; `undefined` for anything but a JSON object. Throws {@link UpstreamFault} for
 * an event that reports an error.
 */
export function parseEvent(event: SseEvent): JsonObject | undefined {
  const parsed = parseJsonObject(event.data, EVENT_MAX);
  if (event.event === "error" || parsed?.type === "error" || parsed?.error) {
    throw new UpstreamFault("The upstream reported an error");
  }
  return parsed;
}

/** Returns the type of an event. Throws {@link UpstreamFault} unless it has 1 to 64 word characters. */
export function requireEventType({ type }: JsonObject): string {
  if (typeof type !== "string" || !EVENT_NAME.test(type)) throw new UpstreamFault("An event has no type");
  return type;
}
