import type { ChatEvent } from "../../../domain/chat-event.ts";
import type { Usage } from "../../../domain/usage.ts";
import type { EventReader } from "../../ends.ts";
import { isJsonObject, type JsonObject } from "../../json-read.ts";
import { UpstreamFault } from "../../wire-protocol.ts";
import { finishEvents, readStopReason } from "../finish-reason.ts";
import { parseEvent, requireEventType } from "../sse-event.ts";
import { createUsageReader } from "../usage.ts";
import { createBlockReader } from "./block-events.ts";

/** Reads a streamed message, as hard on the upstream as where it passes verbatim. */
export function readEvents(): EventReader {
  const usage = createUsageReader();
  const blocks = createBlockReader();
  let isStarted = false;
  let isFinished = false;
  let isDone = false;

  const report = (read: Usage | undefined): readonly ChatEvent[] =>
    read ? [{ kind: "usage", usage: read, reasoningTokens: usage.thinkingTokens() }] : [];

  const start = (event: JsonObject): readonly ChatEvent[] => {
    if (isStarted || !isJsonObject(event.message)) throw new UpstreamFault("The message does not start once");
    isStarted = true;
    return report(usage.readStart(event.message.usage));
  };

  const finish = (event: JsonObject): readonly ChatEvent[] => {
    const delta = isJsonObject(event.delta) ? event.delta : {};
    const reason = readStopReason(delta.stop_reason);
    const finished = reason === undefined || isFinished ? [] : finishEvents(reason, delta);
    isFinished ||= reason !== undefined;
    return [...finished, ...report(usage.readDelta(event.usage, isFinished))];
  };

  const readEvent = (event: JsonObject): readonly ChatEvent[] => {
    const type = requireEventType(event);
    if (type === "message_start") return start(event);
    if (type === "ping") return [];
    if (!isStarted) throw new UpstreamFault("The message has no start");
    if (type === "message_delta") return finish(event);
    if (type === "message_stop") {
      if (!isFinished) throw new UpstreamFault("The message ended without a stop reason");
      isDone = true;
    } else if (!isFinished) return readBlockEvent(type, event);
    return [];
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
      if (parsed) return readEvent(parsed);
      // A broken tail cannot take back an answer that is complete.
      if (isFinished) return [];
      throw new UpstreamFault("An event is not JSON");
    },
  };
}
