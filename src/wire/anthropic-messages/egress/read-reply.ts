import type { ChatEvent } from "../../../domain/chat-event.ts";
import { editElements, findMember } from "../../json/edit.ts";
import { isJsonObject } from "../../json/read.ts";
import { finishEvents } from "../finish-reason.ts";
import { parseMessage } from "../parse-answer.ts";
import { readThinkingTokens, readUsage } from "../usage.ts";
import { createBlockReader } from "./read-blocks.ts";

/**
 * Reads a whole message into events. Throws `UpstreamFault` when it is no complete message.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function readReply(text: string): readonly ChatEvent[] {
  const { body, blocks, stopReason } = parseMessage(text);
  const reader = createBlockReader();
  const inputs = blocks.some(({ type }) => type === "tool_use") ? readRawInputs(text) : [];
  const output = blocks.flatMap((block, index) => reader.start(index, block, inputs[index]));
  return [
    ...output,
    ...reader.finish(stopReason),
    ...finishEvents(stopReason, body),
    ...usageEvents(body.usage),
  ];
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

function sliceMember(text: string, key: string): string | undefined {
  const place = findMember(text, key);
  return place && text.slice(place.start, place.end);
}

function usageEvents(reported: unknown): readonly ChatEvent[] {
  const usage = isJsonObject(reported) ? readUsage(reported) : undefined;
  return usage && isJsonObject(reported)
    ? [{ kind: "usage", usage, reasoningTokens: readThinkingTokens(reported) }]
    : [];
}
