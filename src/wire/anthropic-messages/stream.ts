import { isJsonObject, type JsonObject, parseJsonObject, readText } from "../json-read.ts";
import { editMembers } from "../json-text.ts";
import { type Content, NO_CONTENT, SILENT } from "../reply-part.ts";
import { printSse } from "../sse.ts";
import {
  type ModelRequest,
  type ReplyPart,
  type ReplyReader,
  type SseEvent,
  UpstreamFault,
} from "../wire-protocol.ts";
import { readBlock, readDelta } from "./content.ts";
import { isRefusal, readStopReason } from "./finish-reason.ts";
import { mergeUsage, readUsage } from "./usage.ts";

const EVENT_NAME = /^\w{1,64}$/;
const MESSAGE_STOP = printSse({ event: "message_stop", data: '{"type":"message_stop"}' });

/**
 * Reads a streamed message. Events pass byte for byte, thinking and signatures included, but for the
 * model's name; each gets the event name that clients insist on. Keeps back from the stop reason on.
 */
export function readStream(request: ModelRequest): ReplyReader {
  let usage: JsonObject | undefined;
  let held = "";
  let isStarted = false;
  let isFinished = false;
  let isDone = false;

  const readUsageOf = (reported: unknown) => {
    if (!isJsonObject(reported)) return undefined;
    usage = mergeUsage(usage ?? {}, reported);
    return readUsage(usage);
  };

  /** Passes an event on, or keeps it back once only the end is awaited. */
  const pass = (event: string, data: string): string => {
    const frame = printSse({ event, data });
    if (!isFinished) return frame;
    held += frame;
    return "";
  };

  const start = (event: JsonObject, data: string): ReplyPart => {
    if (isStarted || !isJsonObject(event.message)) throw new UpstreamFault("The message does not start once");
    isStarted = true;
    const edited = editMembers(data, {
      message: (text) => text && editMembers(text, { model: () => JSON.stringify(request.model) }),
    });
    return { ...SILENT, text: pass("message_start", edited), usage: readUsageOf(event.message.usage) };
  };

  const finish = (event: JsonObject, data: string): ReplyPart => {
    const reason = readStopReason(isJsonObject(event.delta) ? event.delta.stop_reason : undefined);
    isFinished ||= reason !== undefined;
    const isReadable = isRefusal(reason);
    const text = pass("message_delta", data);
    return { ...SILENT, text, isReadable, isOutput: isReadable, usage: readUsageOf(event.usage) };
  };

  const stop = (data: string): ReplyPart => {
    isDone = true;
    if (!isFinished) throw new UpstreamFault("The message ended without a stop reason");
    return { ...SILENT, text: pass("message_stop", data) };
  };

  const readEvent = (event: JsonObject, data: string): ReplyPart => {
    const type = readText(event.type);
    if (!EVENT_NAME.test(type)) throw new UpstreamFault("An event has no type");
    if (type === "message_start") return start(event, data);
    if (type === "ping") return { ...SILENT, text: pass(type, data) };
    if (!isStarted) throw new UpstreamFault("The message has no start");
    if (type === "message_delta") return finish(event, data);
    if (type === "message_stop") return stop(data);
    const { generated, isReadable } = readContent(type, event);
    const isOutput = generated !== "" || isReadable || type === "content_block_start";
    return { text: pass(type, data), isOutput, isReadable, generated, usage: undefined };
  };

  return {
    get finished() {
      return isFinished;
    },
    get done() {
      return isDone;
    },
    read(event) {
      if (isDone) return SILENT;
      const parsed = parseEvent(event);
      if (parsed) return readEvent(parsed, event.data);
      // A broken tail cannot take back an answer that is complete.
      if (isFinished) return SILENT;
      throw new UpstreamFault("An event is not JSON");
    },
    ending() {
      if (!isFinished) throw new Error("There is no ending before the finish");
      return isDone ? held : held + MESSAGE_STOP;
    },
  };
}

function parseEvent(event: SseEvent): JsonObject | undefined {
  const parsed = parseJsonObject(event.data);
  if (event.event === "error" || parsed?.type === "error" || parsed?.error) {
    throw new UpstreamFault("The upstream reported an error");
  }
  return parsed;
}

function readContent(type: string, event: JsonObject): Content {
  if (type === "content_block_start" && isJsonObject(event.content_block))
    return readBlock(event.content_block);
  if (type === "content_block_delta" && isJsonObject(event.delta)) return readDelta(event.delta);
  return NO_CONTENT;
}
