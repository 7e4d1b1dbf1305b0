import type { ChatEvent } from "../../../domain/chat-event.ts";
import { isJsonObject } from "../../json/read.ts";
import { finishEvents } from "../finish-reason.ts";
import { parseMessage } from "../parse-answer.ts";
import { readThinkingTokens, readUsage } from "../usage.ts";
import { readRawInputs } from "./raw-inputs.ts";
import { createBlockReader } from "./read-blocks.ts";

/** The events of a whole message. Throws `UpstreamFault` for what is none. */
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

function usageEvents(reported: unknown): readonly ChatEvent[] {
  const usage = isJsonObject(reported) ? readUsage(reported) : undefined;
  return usage && isJsonObject(reported)
    ? [{ kind: "usage", usage, reasoningTokens: readThinkingTokens(reported) }]
    : [];
}
