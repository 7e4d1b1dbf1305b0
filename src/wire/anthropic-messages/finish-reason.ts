import type { ChatEvent, FinishEvent, FinishReason } from "../../domain/chat-event.ts";
import {
  ANSWER_MAX,
  EVENT_MAX,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  readText,
} from "../json/read.ts";
import type { SseEvent } from "../sse.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/**
 * Stop reasons with a neutral counterpart; every other stop reason is an ordinary end.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["refusal", "content_filter"],
]);

/**
 * Reads a stop reason, `undefined` while the message has not finished. Unknown reasons pass, because clients
 * accept those of new models. Throws {@link UpstreamFault} for an error in its place.
 */
export function readStopReason(value: unknown): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string" || value === "error")
    throw new UpstreamFault("The message ended in an error");
  return value;
}

/** Whether the model or a filter refused. Such a message counts as readable even without text. */
export function isRefusal(stopReason: string | undefined): boolean {
  return stopReason === "refusal";
}

/** Returns the finish event, preceded by the explanation of a refusal. `holder` contains the stop reason. */
export function finishEvents(stopReason: string, holder: JsonObject): readonly ChatEvent[] {
  const finish: FinishEvent = {
    kind: "finish",
    reason: FINISHES.get(stopReason) ?? "stop",
    stopSequence: stopReason === "stop_sequence" ? readText(holder.stop_sequence) || undefined : undefined,
  };
  const details = isRefusal(stopReason) && isJsonObject(holder.stop_details) ? holder.stop_details : {};
  const text = readText(details.explanation);
  return text === "" ? [finish] : [{ kind: "refusal", text }, finish];
}

/**
 * Prints the stop members of a message. An answer that contains a refusal and no calls ends with `refusal`.
 * An answer with calls finishes with `tool_calls` unless it was cut off.
 */
export function printStopReason(finish: FinishEvent, hasRefusal: boolean) {
  const { stopSequence } = finish;
  if (finish.reason === "length") return stopMembers("max_tokens");
  if (finish.reason === "content_filter") return refusalMembers();
  if (finish.reason === "tool_calls") return stopMembers("tool_use");
  if (hasRefusal) return refusalMembers();
  return stopSequence === undefined
    ? stopMembers("end_turn")
    : { ...stopMembers("stop_sequence"), stop_sequence: stopSequence };
}

function stopMembers(reason: string) {
  return { stop_reason: reason, stop_sequence: null, stop_details: null };
}

function refusalMembers() {
  return {
    ...stopMembers("refusal"),
    stop_details: { type: "refusal", category: null, explanation: null },
  };
}

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
