import type { ChatEvent } from "../../../domain/chat-event.ts";
import { isJsonObject } from "../../json-read.ts";
import { finishEvents } from "../finish-reason.ts";
import { parseMessage } from "../message.ts";
import { readThinkingTokens, readUsage } from "../usage.ts";
import { createBlockReader } from "./block-events.ts";
import { readRawInputs } from "./raw-inputs.ts";

/** The events of a whole message. Throws `UpstreamFault` for what is none. */
export function readReply(text: string): readonly ChatEvent[] {
  const { body, blocks, stopReason } = parseMessage(text);
  const reader = createBlockReader();
  const inputs = blocks.some(({ type }) => type === "tool_use") ? readRawInputs(text) : [];
  const output = blocks.flatMap((block, index) =>
    reader.start(index, block).map((event) => withInput(event, inputs[index])),
  );
  return [...output, ...finishEvents(stopReason, body), ...usageEvents(body.usage)];
}

/** What a call is given, as it was written: so it comes streamed. */
function withInput(event: ChatEvent, json: string | undefined): ChatEvent {
  return event.kind === "tool_input" && json !== undefined ? { ...event, json } : event;
}

function usageEvents(reported: unknown): readonly ChatEvent[] {
  const usage = isJsonObject(reported) ? readUsage(reported) : undefined;
  return usage && isJsonObject(reported)
    ? [{ kind: "usage", usage, reasoningTokens: readThinkingTokens(reported) }]
    : [];
}
