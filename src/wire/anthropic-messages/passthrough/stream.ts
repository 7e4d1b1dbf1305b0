import { editMembers } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readArray } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import { type Content, NO_CONTENT, type ReplyPart, type ReplyReader, SILENT } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { isRefusal, readStopReason } from "../finish-reason.ts";
import { parseEvent, requireEventType } from "../sse-event.ts";
import { createUsageReader } from "../usage.ts";
import { readBlock, readDelta } from "./content.ts";
import { createEnding } from "./ending.ts";

/**
 * Reads a streamed message. Events pass byte for byte, thinking and signatures included, but for the
 * model's name; each gets the event name that clients insist on. Keeps back from the stop reason on.
 */
export function readStream(request: RequestFacts): ReplyReader {
  const usage = createUsageReader();
  const ending = createEnding();
  let isStarted = false;
  /** Whether the start alone was all of the message, its usage included. */
  let isWhole = false;
  let isDone = false;

  /** A request for no output at all, which fills a cache, is answered by an empty message. */
  const isAnswered = () =>
    ending.isFinished() && (request.outputTokensMax === 0 || isRefusal(ending.reason()));

  const start = (event: JsonObject, data: string): ReplyPart => {
    const { message } = event;
    if (!isJsonObject(message)) throw new UpstreamFault("The message has no start");
    // SDKs throw on a second start, or skip it.
    if (isStarted) return SILENT;
    isStarted = true;
    const edited = editMembers(data, {
      message: (text) => text && editMembers(text, { model: () => JSON.stringify(request.model) }),
    });
    const content = readWholeContent(message);
    const text = ending.passStart(edited, readStopReason(message.stop_reason), content.isOutput);
    isWhole = ending.isFinished();
    const isReadable = content.isReadable || isAnswered();
    return { ...content, text, isReadable, usage: usage.readStart(message.usage) };
  };

  const finish = (event: JsonObject, data: string): ReplyPart => {
    const reason = readStopReason(isJsonObject(event.delta) ? event.delta.stop_reason : undefined);
    const text = ending.passDelta(event, data, reason);
    const isReadable = isAnswered();
    return {
      ...SILENT,
      text,
      isReadable,
      isOutput: isReadable,
      usage: usage.readDelta(event.usage, ending.isFinished() && !isWhole),
    };
  };

  const stop = (data: string): ReplyPart => {
    isDone = true;
    const text = ending.pass("message_stop", data);
    if (!ending.isFinished()) throw new UpstreamFault("The message ended without a stop reason");
    return { ...SILENT, text, isReadable: isAnswered() };
  };

  const readEvent = (event: JsonObject, data: string): ReplyPart => {
    const type = requireEventType(event);
    if (type === "message_start") return start(event, data);
    if (type === "ping") return { ...SILENT, text: ending.pass(type, data) };
    if (!isStarted) throw new UpstreamFault("The message has no start");
    if (type === "message_delta") return finish(event, data);
    if (type === "message_stop") return stop(data);
    const { generated, isReadable } = readContent(type, event);
    const isOutput = generated !== "" || isReadable || type === "content_block_start";
    return { text: ending.pass(type, data), isOutput, isReadable, generated, usage: undefined };
  };

  return {
    get finished() {
      return ending.isFinished();
    },
    get done() {
      return isDone;
    },
    read(event) {
      if (isDone) return SILENT;
      const parsed = parseEvent(event);
      if (parsed) return readEvent(parsed, event.data);
      // A broken tail cannot take back an answer that is complete.
      if (ending.isFinished()) return SILENT;
      throw new UpstreamFault("An event is not JSON");
    },
    ending() {
      if (!ending.isFinished()) throw new Error("There is no ending before the finish");
      return ending.print();
    },
  };
}

/** The blocks that a start has already. */
function readWholeContent({ content }: JsonObject) {
  const contents = readArray(content).filter(isJsonObject).map(readBlock);
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
