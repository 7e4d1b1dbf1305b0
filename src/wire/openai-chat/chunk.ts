import type { FinishEvent } from "../../domain/chat-event.ts";
import {
  EVENT_MAX,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  readArray,
  readText,
} from "../json/read.ts";
import { joinPromptText } from "../prompt-size.ts";
import { CHOICES_MAX, type Content } from "../reply-part.ts";
import type { SseEvent } from "../sse.ts";
import { isFlaggedError, UpstreamFault } from "../upstream-fault.ts";

export const END_MARK = "[DONE]";

const ID_PREFIX_CHARS = 24;

/** Throws {@link UpstreamFault} for more choices than any request may ask for. */
export function rejectSurplus(choices: readonly unknown[]): void {
  if (choices.length > CHOICES_MAX) throw new UpstreamFault("There are too many choices");
}

/**
 * Parses the chunk of an event. Returns `undefined` for invalid JSON. Throws {@link UpstreamFault} for an
 * error that the chunk reports.
 */
export function parseChunk(event: SseEvent): JsonObject | undefined {
  const chunk = parseJsonObject(event.data, EVENT_MAX);
  if (event.event === "error" || chunk?.error) throw faultOf(chunk?.error ?? chunk);
  return chunk;
}

/** Returns the fault of an error inside an answer. */
export function faultOf(error: unknown): UpstreamFault {
  return new UpstreamFault("The upstream reported an error", undefined, isFlaggedError(error));
}

/** Returns a choice of a chunk. Throws {@link UpstreamFault} for anything but an object, and for an error. */
export function requireChoice(choice: unknown): JsonObject {
  if (!isJsonObject(choice)) throw new UpstreamFault("A choice is not an object");
  // Some hosts report the error of a single choice.
  if (choice.error) throw new UpstreamFault("A choice is an error");
  return choice;
}

/** Returns the index of a choice, 0 when omitted. Throws {@link UpstreamFault} for an unrequested index. */
export function readIndex({ index = 0 }: JsonObject, choices: number): number {
  const isIndex = typeof index === "number" && Number.isInteger(index) && index >= 0;
  if (!isIndex || index >= choices) throw new UpstreamFault("A choice has an index that was not requested");
  return index;
}

/** Returns a prefix for generated call ids that is unique to this choice of this answer. */
export function callIdPrefixOf({ id }: JsonObject, choice: number): string {
  return `${readText(id).slice(-ID_PREFIX_CHARS)}_${choice}`;
}

/** Generates an id for a tool call without one. The prefix makes it unique among all answers. */
export function generateCallId(prefix: string, index: number): string {
  return `call_${`${prefix}_${index}`.replaceAll(/[^\w-]/g, "")}`;
}

/** One tool call of a choice, numbered from 0 in order of arrival. */
interface FoundCall {
  readonly index: number;
  /** The upstream's id; "" until it has sent one. */
  readonly id: string;
  readonly isFirstFragment: boolean;
}

type Call = Omit<FoundCall, "isFirstFragment">;

/** Bound of the memory for the calls of a choice: enough for thousands of calls. */
const REMEMBERED_CHARS_MAX = 1024 * 1024;
/** Memory of a call beside its id, as characters. */
const CALL_CHARS = 100;

/** Assigns fragments of tool calls to the calls of one choice. Hosts send indexes, ids, both or neither. */
export function createCallFinder() {
  const byUpstreamIndex = new Map<number, Call>();
  const byId = new Map<string, Call>();
  let calls = 0;
  let remembered = 0;
  let latest: Call | undefined;

  const open = (id: string): Call => {
    remembered += CALL_CHARS + id.length;
    if (remembered > REMEMBERED_CHARS_MAX) throw new UpstreamFault("There are too many tool calls");
    return { index: calls++, id };
  };

  const findKnown = (delta: JsonObject): Call | undefined => {
    const id = readText(delta.id);
    const isNamed = isJsonObject(delta.function) && readText(delta.function.name) !== "";
    if (typeof delta.index !== "number") {
      if (id !== "") return byId.get(id);
      return isNamed ? undefined : latest;
    }
    const known = byUpstreamIndex.get(delta.index);
    // Some hosts send index 0 with every call: a new id together with a name starts another call.
    const isOther = isNamed && id !== "" && known !== undefined && known.id !== "" && known.id !== id;
    return isOther ? undefined : known;
  };

  return {
    count: () => calls,

    /** Returns the call of a fragment. Throws {@link UpstreamFault} above the memory bound. */
    find(delta: JsonObject): FoundCall {
      const known = findKnown(delta);
      const call = known ?? open(readText(delta.id));
      latest = call;
      if (call.id !== "") byId.set(call.id, call);
      if (typeof delta.index === "number") byUpstreamIndex.set(delta.index, call);
      return { index: call.index, id: call.id, isFirstFragment: known === undefined };
    },
  };
}

/**
 * The finish reasons that clients know.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "function_call";

/** Finish reasons of all hosts, in lower case, and the reason that clients receive. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["stop_sequence", "stop"],
  ["complete", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["tool_calls", "tool_calls"],
  ["tool_use", "tool_calls"],
  ["function_call", "function_call"],
  ["content_filter", "content_filter"],
  ["content_filtered", "content_filter"],
  ["refusal", "content_filter"],
  ["safety", "content_filter"],
  ["recitation", "content_filter"],
  ["blocklist", "content_filter"],
  ["prohibited_content", "content_filter"],
  ["spii", "content_filter"],
]);

/**
 * Returns why a choice finished; `undefined` while it has not. A `stop` after tool calls becomes
 * `tool_calls`, or the client would not run the tools. Throws {@link UpstreamFault} for an unknown reason.
 */
export function readFinishReason(value: unknown, calledTools: boolean): FinishReason | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const reason = typeof value === "string" ? FINISH_REASONS.get(value.toLowerCase()) : undefined;
  if (reason === undefined) throw new UpstreamFault("The finish reason is unknown");
  return reason === "stop" && calledTools ? "tool_calls" : reason;
}

/** Returns the neutral finish event. Hosts do not report which stop sequence matched. */
export function finishEvent(reason: FinishReason): FinishEvent {
  const neutral = reason === "function_call" ? "tool_calls" : reason;
  return { kind: "finish", reason: neutral, stopSequence: undefined };
}

/** The texts of a delta or a message, tool calls excluded. */
interface DeltaText {
  readonly reasoning: string;
  readonly text: string;
  readonly refusal: string;
}

/** Types of content parts that are reasoning; a part of any other type is text if it has a text. */
const REASONING = /^(?:(?:redacted_)?thinking|thought|reasoning(?:[._].*)?|summary_text)$/;

/**
 * Reads the texts of a delta or a message. Hosts use several names for reasoning, some of them two at once.
 */
export function readDeltaText(message: JsonObject): DeltaText {
  const { content } = message;
  return {
    reasoning: readReasoning(message),
    text: typeof content === "string" ? content : readContentParts(content),
    refusal: readText(message.refusal),
  };
}

/** Reads what the gateway meters of a delta or a message. */
export function readContent(message: JsonObject): Content {
  const { reasoning, text, refusal } = readDeltaText(message);
  const called = readCalls(message);
  const speech = isJsonObject(message.audio) ? message.audio : undefined;
  const hasMedia = speech !== undefined || readArray(message.images).length > 0;
  return {
    generated: reasoning + text + refusal + called.text + readText(speech?.transcript),
    isReadable: text !== "" || refusal !== "" || called.count > 0 || hasMedia,
    // Of base64.
    audioBytes: speech && Math.floor((readText(speech.data).length / 4) * 3),
  };
}

/** Returns the text of a content part or of an entry of `reasoning_details`, under any of its names. */
export function textOfPart(part: unknown): string {
  return isJsonObject(part) ? readText(part.text) || joinPromptText([part.thinking, part.summary]) : "";
}

/** Returns reasoning that is a plain string, not a part or a detail. */
export function readPlainReasoning(message: JsonObject): string {
  return readText(message.reasoning_content) || readText(message.reasoning);
}

function readReasoning(message: JsonObject): string {
  const reasoning = readPlainReasoning(message);
  if (reasoning !== "") return reasoning;
  const details = readArray(message.reasoning_details);
  if (details.length > 0) return joinTexts(details);
  return Array.isArray(message.content) ? joinTexts(message.content.filter(isReasoning)) : "";
}

function readContentParts(content: unknown): string {
  return Array.isArray(content) ? joinTexts(content.filter((part) => !isReasoning(part))) : "";
}

function isReasoning(part: unknown): boolean {
  return isJsonObject(part) && (REASONING.test(readText(part.type)) || readText(part.text) === "");
}

function joinTexts(parts: readonly unknown[]): string {
  return parts.map(textOfPart).join("");
}

function readCalls(message: JsonObject): { count: number; text: string } {
  const { tool_calls: toolCalls, function_call: functionCall } = message;
  if (!toolCalls && !functionCall) return { count: 0, text: "" };
  const calls = readArray(toolCalls).map((call) =>
    isJsonObject(call) ? (call.function ?? call.custom) : {},
  );
  if (isJsonObject(functionCall)) calls.push(functionCall);
  return { count: calls.length, text: calls.map(readCallText).join("") };
}

function readCallText(call: unknown): string {
  if (!isJsonObject(call)) return "";
  const { name, arguments: input = call.input } = call;
  return readText(name) + (isJsonObject(input) ? joinPromptText([input]) : readText(input));
}
