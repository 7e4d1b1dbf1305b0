import type { ToolCalls } from "../../../domain/tool-fees.ts";
import { editMembers, type Path } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readArray, readText } from "../../json/read.ts";
import type { RequestHead } from "../../model-request.ts";
import { joinPromptText } from "../../prompt-size.ts";
import { createRepeatedEvents } from "../../repeated-events.ts";
import { type Content, NO_CONTENT, type ReplyPart, type ReplyReader, SILENT } from "../../reply-part.ts";
import type { SseEvent } from "../../sse.ts";
import { readEventServed, readMessagesServed, withServed } from "../../tiers.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { isRefusal, parseEvent, parseMessage, readStopReason, requireEventType } from "../finish-reason.ts";
import { createCallCounter } from "../tools.ts";
import { createUsageReader, readUsage } from "../usage.ts";
import { createEnding } from "./ending.ts";

/**
 * Reads a streamed message. Replaces the model name in `message_start` and passes all other data byte for
 * byte, thinking and signatures included. Each event is sent with its event name, which clients require.
 * Holds back everything from the stop reason on.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function readStream(request: RequestHead): ReplyReader {
  const usage = createUsageReader();
  const counter = request.tools && createCallCounter(request.tools);
  const ending = createEnding();
  const repeated = createRepeatedEvents();
  let isStarted = false;
  /** Whether the start contained the whole message, including its usage. */
  let isWhole = false;
  let isDone = false;

  const isAnswered = () => isAnsweredBy(ending, request);

  const start = (event: JsonObject, data: string): ReplyPart => {
    const { message } = event;
    if (!isJsonObject(message)) throw new UpstreamFault("The message has no start");
    // SDKs throw on a second start, or ignore it.
    if (isStarted) return SILENT;
    isStarted = true;
    const edited = renameModel(data, request.model);
    const content = readBlocks(readArray(message.content).filter(isJsonObject));
    const text = ending.passStart(edited, readStopReason(message.stop_reason), content.isOutput);
    isWhole = ending.isFinished();
    const isReadable = content.isReadable || isAnswered();
    const calls = countBlocks(counter, message.content);
    return { ...content, text, isReadable, usage: usage.readStart(message.usage), calls };
  };

  const finish = (event: JsonObject, data: string): ReplyPart => {
    const reason = readStopReason(isJsonObject(event.delta) ? event.delta.stop_reason : undefined);
    const text = ending.passDelta(event, data, reason);
    const isReadable = isAnswered();
    const reported = usage.readDelta(event.usage, ending.isFinished() && !isWhole);
    const counted = counter?.report(event.usage);
    return { ...SILENT, text, isReadable, isOutput: isReadable, usage: reported, ...counted };
  };

  const stop = (data: string): ReplyPart => {
    isDone = true;
    const text = ending.pass("message_stop", data);
    if (!ending.isFinished()) throw new UpstreamFault("The message ended without a stop reason");
    return { ...SILENT, text, isReadable: isAnswered() };
  };

  const readEvent = (event: JsonObject, { event: name, data }: SseEvent): ReplyPart => {
    const type = requireEventType(event);
    if (type === "message_start") return start(event, data);
    if (type === "ping") return { ...SILENT, text: ending.pass(type, data) };
    if (!isStarted) throw new UpstreamFault("The message has no start");
    if (type === "message_delta") return finish(event, data);
    if (type === "message_stop") return stop(data);
    const part = { ...readPart(type, event), text: ending.pass(type, data) };
    const calls = counter?.see(event.content_block);
    if (calls) return { ...part, calls };
    repeated.learn(lessonOf(event, part, { event: name, data }));
    return part;
  };

  return {
    get finished() {
      return ending.isFinished();
    },
    get done() {
      return isDone;
    },
    readRepeated: (text, start) => repeated.read(text, start),
    read(event) {
      repeated.forget();
      if (isDone) return SILENT;
      const parsed = parseEvent(event);
      if (parsed) return withServed(readEvent(parsed, event), readEventServed(parsed), request);
      // An answer that has finished stays complete when a later event is malformed.
      if (ending.isFinished()) return SILENT;
      throw new UpstreamFault("An event is not JSON");
    },
    ending() {
      if (!ending.isFinished()) throw new Error("There is no ending before the finish");
      return ending.print();
    },
  };
}

/** Returns whether the finish alone is readable: a refusal, or the answer to a request for no output. */
function isAnsweredBy(
  { isFinished, reason }: ReturnType<typeof createEnding>,
  { outputTokensMax }: RequestHead,
): boolean {
  return isFinished() && (outputTokensMax === 0 || isRefusal(reason()));
}

/** What is learned of an event, for those that differ from it in their text alone. */
function lessonOf(event: JsonObject, part: ReplyPart, sent: SseEvent) {
  const frame = { event: requireEventType(event), data: sent.data };
  return { event: sent, part, frame, paths: pathsOf(event) };
}

function readPart(type: string, event: JsonObject): Omit<ReplyPart, "text"> {
  const { generated, isReadable } = readContent(type, event);
  const isOutput = generated !== "" || isReadable || type === "content_block_start";
  return { isOutput, isReadable, generated, usage: undefined };
}

function countBlocks(counter: ReturnType<typeof createCallCounter> | undefined, blocks: unknown) {
  let calls: ToolCalls | undefined;
  if (counter) for (const block of readArray(blocks)) calls = counter.see(block) ?? calls;
  return calls;
}

/** Replaces the model's name in a `message_start`. */
function renameModel(data: string, model: string): string {
  const message = (text = "{}") => editMembers(text, { model: () => JSON.stringify(model) });
  return editMembers(data, { message });
}

function readBlocks(blocks: readonly JsonObject[]) {
  const contents = blocks.map(readBlock);
  return {
    isOutput: contents.length > 0,
    isReadable: contents.some(({ isReadable }) => isReadable),
    generated: contents.map(({ generated }) => generated).join(""),
  };
}

function readContent(type: string, event: JsonObject): Content {
  if (type === "content_block_start" && isJsonObject(event.content_block))
    return readBlock(event.content_block);
  if (type === "content_block_delta" && isJsonObject(event.delta)) return readDelta(event.delta);
  return NO_CONTENT;
}

/** Returns the path of the generated text of a `content_block_delta` event, if it has one. */
function pathsOf({ type, delta }: JsonObject): readonly Path[] {
  const isDelta = type === "content_block_delta" && isJsonObject(delta);
  const field = isDelta ? TEXT_FIELDS.get(readText(delta.type)) : undefined;
  return field === undefined ? [] : [["delta", field]];
}

const TEXT_FIELDS: ReadonlyMap<string, string> = new Map([
  ["text_delta", "text"],
  ["input_json_delta", "partial_json"],
  ["thinking_delta", "thinking"],
]);

/**
 * Reads a whole message. Replaces the model name in the body and keeps every other byte, thinking and
 * signatures included. Throws `UpstreamFault` for anything but a complete message.
 */
export function readWhole(request: RequestHead, text: string): ReplyPart {
  const { body, blocks, stopReason } = parseMessage(text);
  const content = readBlocks(blocks);
  const counter = request.tools && createCallCounter(request.tools);
  countBlocks(counter, blocks);
  const part = {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    // A request with an output limit of 0 only fills the cache, and its answer is an empty message.
    isReadable: request.outputTokensMax === 0 || isRefusal(stopReason) || content.isReadable,
    generated: content.generated,
    usage: isJsonObject(body.usage) ? readUsage(body.usage) : undefined,
    ...counter?.report(body.usage),
  };
  return withServed(part, readMessagesServed(body.usage), request);
}

/** Reads a content block, whole or as it starts. Results of server tools do not count as generated. */
function readBlock(block: JsonObject): Content {
  const type = readText(block.type);
  if (type === "text") return { generated: readText(block.text), isReadable: readText(block.text) !== "" };
  if (type === "thinking") return { generated: readText(block.thinking), isReadable: false };
  if (type === "redacted_thinking") return NO_CONTENT;
  if (type.endsWith("_result")) return { generated: "", isReadable: true };
  const input = isJsonObject(block.input) ? joinPromptText([block.input]) : "";
  return { generated: readText(block.name) + input, isReadable: true };
}

/** Reads the `delta` of a `content_block_delta` event. Signatures and citations do not count as generated. */
function readDelta(delta: JsonObject): Content {
  const field = TEXT_FIELDS.get(readText(delta.type));
  if (field === undefined) return NO_CONTENT;
  const generated = readText(delta[field]);
  return { generated, isReadable: delta.type !== "thinking_delta" && generated !== "" };
}
