import type { ChatEvent } from "../../../domain/chat-event.ts";
import type { Usage } from "../../../domain/usage.ts";
import type { EventReader } from "../../format.ts";
import { editElements, sliceMember } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readArray } from "../../json/read.ts";
import { createTierReader, readEventServed, readMessagesServed } from "../../tiers.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import {
  finishEvents,
  parseEvent,
  parseMessage,
  readStopReason,
  requireEventType,
} from "../finish-reason.ts";
import { createUsageReader, readThinkingTokens, readUsage } from "../usage.ts";
import { createBlockReader } from "./read-blocks.ts";

/**
 * Reads a streamed message into events. Throws `UpstreamFault` for every event for which the passthrough
 * reader does.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function readEvents(): EventReader {
  const usage = createUsageReader();
  const blocks = createBlockReader();
  const tiers = createTierReader();
  let started: JsonObject | undefined;
  /** Whether the start contained the whole message, including its usage. */
  let isWhole = false;
  let hasBlocks = false;
  let isFinished = false;
  let isDone = false;

  const report = (read: Usage | undefined) => usageEvents(read, usage.thinkingTokens());

  const finish = (reason: string, holder: JsonObject): readonly ChatEvent[] => {
    isFinished = true;
    return [...blocks.finish(reason), ...finishEvents(reason, holder)];
  };

  /**
   * A start with content and a stop reason is a whole message. Without content it is one only if no block
   * follows.
   */
  const start = (event: JsonObject): readonly ChatEvent[] => {
    const { message } = event;
    if (!isJsonObject(message)) throw new UpstreamFault("The message has no start");
    if (started) return [];
    started = message;
    const content = readArray(message.content).filter(isJsonObject);
    const output = content.flatMap((block, position) => blocks.start(`start ${position}`, block));
    const reason = content.length > 0 ? readStopReason(message.stop_reason) : undefined;
    isWhole = reason !== undefined;
    const finished = reason === undefined ? [] : finish(reason, message);
    return [...output, ...finished, ...report(usage.readStart(message.usage))];
  };

  const readDelta = (event: JsonObject): readonly ChatEvent[] => {
    const delta = isJsonObject(event.delta) ? event.delta : {};
    const reason = readStopReason(delta.stop_reason);
    const finished = reason === undefined || isFinished ? [] : finish(reason, delta);
    return [...finished, ...report(usage.readDelta(event.usage, isFinished && !isWhole))];
  };

  const stop = (message: JsonObject): readonly ChatEvent[] => {
    const reason = isFinished || hasBlocks ? undefined : readStopReason(message.stop_reason);
    const finished = reason === undefined ? [] : finish(reason, message);
    if (!isFinished) throw new UpstreamFault("The message ended without a stop reason");
    isDone = true;
    return finished;
  };

  const readEvent = (event: JsonObject): readonly ChatEvent[] => {
    const type = requireEventType(event);
    if (type === "message_start") return start(event);
    if (type === "ping") return [];
    if (!started) throw new UpstreamFault("The message has no start");
    if (type === "message_delta") return readDelta(event);
    if (type === "message_stop") return stop(started);
    hasBlocks = true;
    return isFinished ? [] : readBlockEvent(type, event);
  };

  const readBlockEvent = (type: string, event: JsonObject): readonly ChatEvent[] => {
    const { index, content_block: block, delta } = event;
    if (type === "content_block_start" && isJsonObject(block)) return blocks.start(index, block);
    if (type === "content_block_delta" && isJsonObject(delta)) return blocks.delta(index, delta);
    if (type === "content_block_stop") blocks.stop(index);
    return [];
  };

  return {
    get finished() {
      return isFinished;
    },
    get done() {
      return isDone;
    },
    read(event) {
      if (isDone) return [];
      const parsed = parseEvent(event);
      if (parsed) return tiers(readEventServed(parsed), readEvent(parsed));
      // An answer that has finished stays complete when a later event is malformed.
      if (isFinished) return [];
      throw new UpstreamFault("An event is not JSON");
    },
  };
}

/** Reads a whole message into events. Throws `UpstreamFault` for anything but a complete message. */
export function readReply(text: string): readonly ChatEvent[] {
  const { body, blocks, stopReason } = parseMessage(text);
  const reader = createBlockReader();
  const inputs = blocks.some(({ type }) => type === "tool_use") ? readRawInputs(text) : [];
  const output = blocks.flatMap((block, index) => reader.start(index, block, inputs[index]));
  const { usage } = body;
  const counted = isJsonObject(usage) ? usageEvents(readUsage(usage), readThinkingTokens(usage)) : [];
  const events = [...output, ...reader.finish(stopReason), ...finishEvents(stopReason, body), ...counted];
  return createTierReader()(readMessagesServed(usage), events);
}

/**
 * Returns the original text of each block's input, because parsing would round long numbers. A block without
 * input has `undefined`. The text must be valid JSON.
 */
function readRawInputs(text: string): readonly (string | undefined)[] {
  const inputs: (string | undefined)[] = [];
  editElements(sliceMember(text, "content") ?? "[]", (element) => {
    if (element.startsWith("{")) inputs.push(sliceMember(element, "input"));
    return "";
  });
  return inputs;
}

function usageEvents(usage: Usage | undefined, reasoningTokens: number | undefined): readonly ChatEvent[] {
  return usage ? [{ kind: "usage", usage, reasoningTokens }] : [];
}
