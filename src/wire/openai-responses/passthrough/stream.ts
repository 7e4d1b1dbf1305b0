import { editMembers, type Path } from "../../json/edit.ts";
import {
  ANSWER_MAX,
  EVENT_MAX,
  isJsonObject,
  isSet,
  type JsonObject,
  parseJsonObject,
  readArray,
  readText,
} from "../../json/read.ts";
import type { RequestHead } from "../../model-request.ts";
import { createRepeatedEvents } from "../../repeated-events.ts";
import { type Content, NO_CONTENT, type ReplyPart, type ReplyReader, SILENT } from "../../reply-part.ts";
import { printSse, type SseEvent } from "../../sse.ts";
import { readServed, withServed } from "../../tiers.ts";
import { isFlagged, UpstreamFault } from "../../upstream-fault.ts";
import { isFiltered, readPromptTooLong, readUsage, requireFinished } from "../response.ts";
import { createCallCounter } from "../tools.ts";

const EVENT_NAME = /^[\w.]{1,64}$/;
const FINISHES: readonly string[] = ["response.completed", "response.incomplete"];
const FAILURES: readonly string[] = ["error", "response.failed"];

/**
 * Reads a streamed response. Replaces the model name in `response` members and passes all other data byte for
 * byte. Each event is sent with its event name, which clients require. Holds back the last event.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function readStream(request: RequestHead): ReplyReader {
  const output = createOutputReader();
  const counter = request.tools && createCallCounter(request.tools);
  const modelText = JSON.stringify(request.model);
  const repeated = createRepeatedEvents();
  let ending: string | undefined;

  const frame = (event: JsonObject, type: string, data: string): string => {
    if (!isJsonObject(event.response)) return printSse({ event: type, data });
    const response = (text = "{}") => editMembers(text, { model: () => modelText });
    return printSse({ event: type, data: editMembers(data, { response }) });
  };

  const finish = (event: JsonObject, type: string, data: string): ReplyPart => {
    const { response } = event;
    if (!isJsonObject(response)) throw new UpstreamFault("A finish has no response");
    requireFinished(response);
    // Some hosts send the whole output in the last event only.
    const content = output.hasItems() ? NO_CONTENT : readOutput(response.output);
    const isReadable = content.isReadable || isFiltered(response);
    const isOutput = isReadable || content.generated !== "";
    ending = frame(event, type, data);
    const part = { ...content, text: "", isOutput, isReadable, usage: readUsage(response.usage) };
    const calls = counter?.seeAll(response.output);
    return withServed(calls ? { ...part, calls } : part, readServed(response.service_tier), request);
  };

  const readEvent = (event: JsonObject, sseEvent: SseEvent): ReplyPart => {
    const { data } = sseEvent;
    const type = readText(event.type);
    if (!EVENT_NAME.test(type)) throw new UpstreamFault("An event has no type");
    if (FAILURES.includes(type)) throw faultOf(event);
    if (FINISHES.includes(type)) return finish(event, type, data);
    const { generated, isReadable, isStart } = output.read(type, event);
    const isOutput = isStart || isReadable || generated !== "";
    const part = { text: frame(event, type, data), isOutput, isReadable, generated, usage: undefined };
    const { output_index: index, item } = event;
    const calls = counter && isJsonObject(item) ? counter.see(index, item) : undefined;
    if (calls) return { ...part, calls };
    repeated.learn({ event: sseEvent, part, frame: { event: type, data }, paths: pathsOf(event) });
    return part;
  };

  return {
    get finished() {
      return ending !== undefined;
    },
    get done() {
      return ending !== undefined;
    },
    readRepeated: (text, start) => repeated.read(text, start),
    read(event) {
      repeated.forget();
      return ending === undefined ? readEvent(parseEvent(event), event) : SILENT;
    },
    ending() {
      if (ending === undefined) throw new Error("There is no ending before the finish");
      return ending;
    },
  };
}

/** Members that differ in each delta, beside the delta itself. */
const CHANGING = ["sequence_number", "obfuscation"];

/** Returns the paths of a delta's text and of the members that change with it; none for other events. */
function pathsOf(event: JsonObject): readonly Path[] {
  if (!readText(event.type).endsWith(".delta")) return [];
  return [["delta"], ...CHANGING.filter((key) => isSet(event[key])).map((key) => [key])];
}

function parseEvent({ event, data }: SseEvent): JsonObject {
  const parsed = parseJsonObject(data, EVENT_MAX);
  if (parsed === undefined) throw new UpstreamFault("An event is not JSON");
  if (event === "error" || parsed.error) throw faultOf(parsed);
  return parsed;
}

/** Returns the fault of a failure event. Hosts put the error into the response, into `error` or beside it. */
function faultOf(event: JsonObject): UpstreamFault {
  const { response } = event;
  const error = (isJsonObject(response) ? response.error : event.error) ?? event;
  const text = isJsonObject(error) ? `${readText(error.code)} ${readText(error.message)}` : "";
  return new UpstreamFault("The upstream reported an error", readPromptTooLong(text), isFlagged(text));
}

/** The content of one event of a streamed answer. */
interface Step extends Content {
  /** Whether the event begins an output item. */
  readonly isStart: boolean;
}

/** Output items with deltas that may be open at a time. */
const OPEN_ITEMS_MAX = 10_000;
const NO_STEP: Step = Object.freeze({ ...NO_CONTENT, isStart: false });

/**
 * Reads what a streamed answer generates. An item without deltas is read from its `output_item.done` event.
 */
function createOutputReader() {
  /** Output indexes of items that came in deltas. */
  const streamed = new Set<unknown>();
  let hasItems = false;

  const readDelta = (type: string, event: JsonObject): Step => {
    const delta = readText(event.delta);
    if (delta === "") return NO_STEP;
    streamed.add(event.output_index);
    if (streamed.size > OPEN_ITEMS_MAX) throw new UpstreamFault("There are too many items");
    const isReadable = !type.startsWith("response.reasoning");
    // Audio is base64. Its text comes as a transcript.
    return { generated: type.endsWith("audio.delta") ? "" : delta, isReadable, isStart: false };
  };

  const readDone = (event: JsonObject, item: JsonObject): Step => {
    const whole = readItem(item);
    const generated = streamed.delete(event.output_index) ? nameOf(item) : whole.generated;
    return { generated, isReadable: whole.isReadable, isStart: false };
  };

  return {
    /** Whether an item has begun or ended. */
    hasItems: () => hasItems,

    read(type: string, event: JsonObject): Step {
      if (type.endsWith(".delta")) return readDelta(type, event);
      const isStart = type === "response.output_item.added";
      if ((!isStart && type !== "response.output_item.done") || !isJsonObject(event.item)) return NO_STEP;
      hasItems = true;
      return isStart
        ? { generated: "", isReadable: isCall(event.item), isStart: true }
        : readDone(event, event.item);
    },
  };
}

/**
 * Reads a whole response. Replaces the model name in the body and keeps every other byte. Throws
 * {@link UpstreamFault} for anything but a finished response.
 */
export function readWhole(request: RequestHead, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined || !Array.isArray(body.output)) throw new UpstreamFault("The answer is no response");
  requireFinished(body);
  const { generated, isReadable } = readOutput(body.output);
  const calls = request.tools && createCallCounter(request.tools).seeAll(body.output);
  const part = {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    isReadable: isReadable || isFiltered(body),
    generated,
    usage: readUsage(body.usage),
    ...(calls && { calls }),
  };
  return withServed(part, readServed(body.service_tier), request);
}

function readOutput(output: unknown): Content {
  const items = readArray(output).filter(isJsonObject).map(readItem);
  return {
    generated: items.map((item) => item.generated).join(""),
    isReadable: items.some((item) => item.isReadable),
  };
}

function readItem(item: JsonObject): Content {
  if (item.type === "reasoning") {
    return { generated: readParts(item.content) || readParts(item.summary), isReadable: false };
  }
  if (item.type === "message") {
    const text = readParts(item.content);
    return { generated: text, isReadable: text !== "" };
  }
  return { generated: nameOf(item) + readText(item.arguments) + readText(item.input), isReadable: true };
}

/** Returns the name of the tool that an item calls, or "" for any other item. */
function nameOf(item: JsonObject): string {
  return isCall(item) ? readText(item.name) : "";
}

/** Whether an item is a tool call: every item that is neither a message nor reasoning. */
function isCall({ type }: JsonObject): boolean {
  return type !== "message" && type !== "reasoning";
}

function readParts(parts: unknown): string {
  return readArray(parts)
    .map((part) => (isJsonObject(part) ? readText(part.text) + readText(part.refusal) : ""))
    .join("");
}
