import type { ChatEvent } from "../../../domain/chat-event.ts";
import type { EventReader, Source } from "../../codecs.ts";
import { editElements, sliceMember } from "../../json/edit.ts";
import {
  ANSWER_MAX,
  EVENT_MAX,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  readArray,
} from "../../json/read.ts";
import type { SseEvent } from "../../sse.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { readPromptTooLong } from "../error.ts";
import { readFinish } from "../finish-reason.ts";
import { readUsageEvents } from "../usage.ts";
import { createBlockReader } from "./read-blocks.ts";

/**
 * Reads a streamed answer. Each SSE event has the type and the payload of one message of the event stream; an
 * exception comes as the event `error`. The usage may come before the finish.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
 */
export function readEvents(source?: Source): EventReader {
  const blocks = createBlockReader(source);
  let isFinished = false;
  let isReported = false;

  const readOutput = (type: string, event: JsonObject): readonly ChatEvent[] => {
    if (isFinished) return [];
    if (type === "contentBlockStart") return blocks.start(event.contentBlockIndex, event.start);
    if (type === "contentBlockDelta") return blocks.delta(event.contentBlockIndex, event.delta);
    if (type === "contentBlockStop") blocks.stop(event.contentBlockIndex);
    if (type !== "messageStop") return [];
    const finish = readFinish(event.stopReason);
    isFinished = true;
    return [finish];
  };

  return {
    get finished() {
      return isFinished;
    },
    get done() {
      return isFinished && isReported;
    },
    read({ event: type = "", data }: SseEvent) {
      if (isFinished && isReported) return [];
      if (type === "error")
        throw new UpstreamFault("The upstream reported an error", readPromptTooLong(data));
      const event = parseJsonObject(data, EVENT_MAX);
      if (event && type !== "metadata") return readOutput(type, event);
      // An answer that has finished stays complete when its usage is malformed.
      if (!event && !isFinished) throw new UpstreamFault("An event is not JSON");
      isReported = true;
      return readUsageEvents(event?.usage);
    },
  };
}

/**
 * Reads a whole answer into events. Throws {@link UpstreamFault} for anything but a complete one.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function readReply(text: string, source?: Source): readonly ChatEvent[] {
  const body = parseJsonObject(text, ANSWER_MAX);
  const message = isJsonObject(body?.output) ? body.output.message : undefined;
  if (!body || !isJsonObject(message) || !Array.isArray(message.content))
    throw new UpstreamFault("The answer has no message");
  const reader = createBlockReader(source);
  const blocks = message.content;
  const inputs = blocks.some((block) => isJsonObject(block) && "toolUse" in block) ? readRawInputs(text) : [];
  const output = readArray(blocks).flatMap((block, index) => reader.whole(index, block, inputs[index]));
  return [...output, readFinish(body.stopReason), ...readUsageEvents(body.usage)];
}

/** Returns the original text of each block's tool input, because parsing would round long numbers. */
function readRawInputs(text: string): readonly (string | undefined)[] {
  const inputs: (string | undefined)[] = [];
  const message = sliceMember(sliceMember(text, "output") ?? "{}", "message") ?? "{}";
  editElements(sliceMember(message, "content") ?? "[]", (element) => {
    const call = element.startsWith("{") ? sliceMember(element, "toolUse") : undefined;
    inputs.push(call?.startsWith("{") ? sliceMember(call, "input") : undefined);
    return "";
  });
  return inputs;
}
