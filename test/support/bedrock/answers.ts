import type { SseEvent } from "../../../src/wire/sse.ts";
import { isObject, type Json } from "../strict-json.ts";
import { encodeChunk, encodeEvent } from "./event-stream.ts";
import type { BedrockScript } from "./scripted-bedrock.ts";

/** The usage of every answer here, unless given. */
export const USAGE = { input: 20, read: 300, written: 50, output: 7 };

/** A text, whole or streamed as the call asks, by Converse. */
export function converseText(text: string): BedrockScript {
  return converse([{ text }], "end_turn");
}

/** An answer of content blocks by Converse, whole or streamed as the call asks. */
export function converse(
  blocks: readonly Json[],
  stopReason: string,
  usage: object = USAGE_CONVERSE,
): BedrockScript {
  return ({ isStreamed }) => {
    if (isStreamed) return { body: converseEvents(blocks, stopReason, usage) };
    const output = { message: { role: "assistant", content: blocks } };
    return { body: { output, stopReason, usage, metrics: { latencyMs: 551 } } };
  };
}

const USAGE_CONVERSE = {
  inputTokens: USAGE.input,
  outputTokens: USAGE.output,
  totalTokens: USAGE.input + USAGE.output + USAGE.read + USAGE.written,
  cacheReadInputTokens: USAGE.read,
  cacheWriteInputTokens: USAGE.written,
};

/** Encodes an answer of Converse as the messages of its event stream. `more` is added to its last event. */
export function converseEvents(
  blocks: readonly Json[],
  stopReason: string,
  usage: object = USAGE_CONVERSE,
  more: object = {},
) {
  return eventsOf(blocks, stopReason, usage, more).map(([type, payload]) => encodeEvent(type, payload));
}

/** An answer of Converse as the SSE events that the gateway makes of its event stream. */
export function converseFrames(
  blocks: readonly Json[],
  stopReason: string,
  usage: object,
): readonly SseEvent[] {
  return eventsOf(blocks, stopReason, usage).map(([event, payload]) => ({
    event,
    data: JSON.stringify(payload),
  }));
}

type ConverseEvent = readonly [type: string, payload: object];

function eventsOf(
  blocks: readonly Json[],
  stopReason: string,
  usage: object,
  more: object = {},
): readonly ConverseEvent[] {
  return [
    ["messageStart", { role: "assistant" }],
    ...blocks.flatMap(eventsOfBlock),
    ["messageStop", { stopReason }],
    ["metadata", { usage, metrics: { latencyMs: 551 }, ...more }],
  ];
}

function eventsOfBlock(block: Json, contentBlockIndex: number): readonly ConverseEvent[] {
  const { toolUse } = block;
  const start = isObject(toolUse)
    ? { toolUse: { toolUseId: toolUse.toolUseId, name: toolUse.name } }
    : undefined;
  return [
    ...(start ? [["contentBlockStart", { contentBlockIndex, start }] as const] : []),
    ...deltasOf(block).map((delta) => ["contentBlockDelta", { contentBlockIndex, delta }] as const),
    ["contentBlockStop", { contentBlockIndex }],
  ];
}

/** Cuts the texts of a block into deltas, as models write them. */
function deltasOf({ text, toolUse, reasoningContent }: Json): readonly object[] {
  if (typeof text === "string") return cut(text).map((piece) => ({ text: piece }));
  if (isObject(toolUse)) return cut(JSON.stringify(toolUse.input)).map((input) => ({ toolUse: { input } }));
  if (!isObject(reasoningContent)) return [];
  const { reasoningText, redactedContent } = reasoningContent;
  if (!isObject(reasoningText)) return [{ reasoningContent: { redactedContent } }];
  const pieces = cut(String(reasoningText.text)).map((piece) => ({ reasoningContent: { text: piece } }));
  const { signature } = reasoningText;
  return signature === undefined ? pieces : [...pieces, { reasoningContent: { signature } }];
}

function cut(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}

/** An answer of content blocks by InvokeModel, in Anthropic's format, whole or streamed as the call asks. */
export function claude(blocks: readonly Json[], stopReason = "end_turn"): BedrockScript {
  return ({ isStreamed }) =>
    isStreamed ? { body: claudeEvents(blocks, stopReason) } : { body: messageOf(blocks, stopReason) };
}

function messageOf(content: readonly Json[], stopReason: string | null): Json {
  return {
    id: "msg_bdrk_01",
    type: "message",
    role: "assistant",
    model: "claude-opus-4-1-20250805",
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: {
      input_tokens: USAGE.input,
      cache_creation_input_tokens: USAGE.written,
      cache_read_input_tokens: USAGE.read,
      output_tokens: stopReason === null ? 1 : USAGE.output,
    },
  };
}

/** Encodes an answer of InvokeModel as the messages of its event stream, with Bedrock's metrics at the end. */
export function claudeEvents(blocks: readonly Json[], stopReason = "end_turn"): readonly Buffer[] {
  return [
    encodeChunk({ type: "message_start", message: messageOf([], null) }),
    ...blocks.flatMap(encodeClaudeBlock),
    encodeChunk({
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: USAGE.output },
    }),
    encodeChunk({
      type: "message_stop",
      "amazon-bedrock-invocationMetrics": {
        inputTokenCount: USAGE.input,
        outputTokenCount: USAGE.output,
        invocationLatency: 551,
        firstByteLatency: 98,
        cacheReadInputTokenCount: USAGE.read,
        cacheWriteInputTokenCount: USAGE.written,
      },
    }),
  ];
}

function encodeClaudeBlock(block: Json, index: number): readonly Buffer[] {
  const { type, text, thinking, signature, input } = block;
  const delta = (content: object) => encodeChunk({ type: "content_block_delta", index, delta: content });
  const begun =
    type === "tool_use" ? { ...block, input: {} } : { ...block, text: undefined, thinking: undefined };
  const deltas =
    type === "text"
      ? cut(String(text)).map((piece) => delta({ type: "text_delta", text: piece }))
      : type === "tool_use"
        ? cut(JSON.stringify(input)).map((json) => delta({ type: "input_json_delta", partial_json: json }))
        : [delta({ type: "thinking_delta", thinking }), delta({ type: "signature_delta", signature })];
  return [
    encodeChunk({ type: "content_block_start", index, content_block: startOf(begun) }),
    ...deltas,
    encodeChunk({ type: "content_block_stop", index }),
  ];
}

function startOf(block: Json): object {
  if (block.type === "text") return { type: "text", text: "" };
  return block.type === "thinking" ? { type: "thinking", thinking: "", signature: "" } : block;
}
