import type { ChatEvent, FinishEvent, FinishReason, OutputEvent } from "../../../domain/chat-event.ts";
import type { EventReader, Source } from "../../format.ts";
import { createCallIds } from "../../identifiers.ts";
import { editElements, sliceMember } from "../../json/edit.ts";
import {
  ANSWER_MAX,
  EVENT_MAX,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  readArray,
  readText,
} from "../../json/read.ts";
import { BLOCKS_MAX, printCallInput, textEvents } from "../../output-events.ts";
import type { SseEvent } from "../../sse.ts";
import { createTierReader, readConverseServed } from "../../tiers.ts";
import {
  findPromptTooLong,
  type PromptTooLong,
  type TooLongPhrases,
  UpstreamFault,
} from "../../upstream-fault.ts";
import { keepRedacted, keepSignature } from "../reasoning.ts";
import { readUsageEvents } from "../usage.ts";

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
      return event ? withTier(event, readUsageEvents(event.usage)) : [];
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
  return withTier(body, [...output, readFinish(body.stopReason), ...readUsageEvents(body.usage)]);
}

function withTier(answer: JsonObject, events: readonly ChatEvent[]): readonly ChatEvent[] {
  return createTierReader()(readConverseServed(answer), events);
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

/**
 * Reads the content blocks of one answer, streamed or whole, into output events. Calls are numbered
 * independently of blocks. Citations, images and results of system tools are left out.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */
function createBlockReader(source: Source | undefined) {
  /** Calls by the index of their block. */
  const open = new Map<unknown, number>();
  const takeId = createCallIds((earlier) => `tooluse_${earlier}`);
  let calls = 0;
  let blocks = 0;
  let latest: OutputEvent["kind"] | undefined;

  const countBlock = (): void => {
    blocks += 1;
    if (blocks > BLOCKS_MAX) throw new UpstreamFault("There are too many blocks");
  };

  /** A text that follows output of another kind begins a block for the client. */
  const counted = (events: readonly OutputEvent[]): readonly OutputEvent[] => {
    for (const { kind } of events) {
      if (kind !== latest && kind !== "tool_input") countBlock();
      latest = kind;
    }
    return events;
  };

  const startCall = (index: unknown, call: JsonObject): OutputEvent => {
    const name = readText(call.name);
    if (name === "") throw new UpstreamFault("A tool call has no name");
    countBlock();
    open.set(index, calls);
    calls += 1;
    return { kind: "tool_call", call: calls - 1, id: takeId(readText(call.toolUseId)), name };
  };

  const readInput = (index: unknown, { input = "" }: JsonObject): readonly OutputEvent[] => {
    const call = open.get(index);
    if (call === undefined || typeof input !== "string")
      throw new UpstreamFault("A piece of input belongs to no tool call");
    return input === "" ? [] : [{ kind: "tool_input", call, json: input }];
  };

  const redactedEvents = (content: unknown): readonly OutputEvent[] => {
    const data = readText(content) === "" ? undefined : keepRedacted(readText(content), source);
    return data === undefined ? [] : [{ kind: "redacted_reasoning", data }];
  };

  const signatureEvents = (value: unknown): readonly OutputEvent[] => {
    const signature = readText(value);
    return signature === ""
      ? []
      : [{ kind: "reasoning_signature", signature: keepSignature(signature, source) }];
  };

  const readReasoning = ({ text, signature, redactedContent }: JsonObject): readonly OutputEvent[] => [
    ...textEvents("reasoning", text),
    ...signatureEvents(signature),
    ...redactedEvents(redactedContent),
  ];

  /** Reads a text or reasoning; no event for any other kind of content. */
  const readContent = ({ text, reasoningContent }: JsonObject): readonly OutputEvent[] => {
    if (!isJsonObject(reasoningContent)) return counted(textEvents("text", text));
    const { reasoningText } = reasoningContent;
    return counted(readReasoning(isJsonObject(reasoningText) ? reasoningText : reasoningContent));
  };

  return {
    /** Reads the start of a block, which only tool calls have. Throws {@link UpstreamFault} above 10,000. */
    start(index: unknown, start: unknown): readonly ChatEvent[] {
      if (isJsonObject(start) && isJsonObject(start.toolUse)) return [startCall(index, start.toolUse)];
      countBlock();
      return [{ kind: "began" }];
    },

    delta(index: unknown, delta: unknown): readonly OutputEvent[] {
      if (!isJsonObject(delta)) return [];
      return isJsonObject(delta.toolUse) ? readInput(index, delta.toolUse) : readContent(delta);
    },

    stop(index: unknown): void {
      open.delete(index);
    },

    /** Reads a whole block. `rawInput` is the original text of its input, if known. */
    whole(index: unknown, block: unknown, rawInput: string | undefined): readonly OutputEvent[] {
      if (!isJsonObject(block)) return [];
      if (!isJsonObject(block.toolUse)) return readContent(block);
      const call = startCall(index, block.toolUse);
      return [call, ...readInput(index, { input: printCallInput(block.toolUse.input, rawInput) })];
    },
  };
}

/** Bedrock puts the words of the model's own host behind its own: those of Claude, vLLM and others. */
const TOO_LONG: TooLongPhrases = {
  phrase:
    /is too long|exceed context limit|exceeds? (?:the )?(?:model's )?(?:maximum )?context|maximum context length|too many (?:input|total text|prompt) /i,
  tokens: [
    /prompt is too long\D{0,40}(\d[\d,]{0,11}) tokens/i,
    /(?:requested|resulted in|prompt contains|input (?:has|contains)|length of) (\d[\d,]{0,11})(?: input)? tokens/i,
    /exceed context limit: (\d[\d,]{0,11}) \+/i,
    /(\d[\d,]{0,11}) in the messages/i,
    /(\d[\d,]{0,11}) input tokens/i,
  ],
};

/**
 * Returns whether an error of Bedrock rejects the prompt as too long.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors
 */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}

/**
 * Stop reasons with a neutral counterpart; every other one is an ordinary end. Converse does not report which
 * stop sequence matched.
 */
const FINISHES: ReadonlyMap<string, FinishReason> = new Map([
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tool_calls"],
  ["guardrail_intervened", "content_filter"],
  ["content_filtered", "content_filter"],
]);

/** Stop reasons of answers that the model garbled: no client can use them, and another try may succeed. */
const MALFORMED: ReadonlySet<string> = new Set(["malformed_model_output", "malformed_tool_use"]);

/**
 * Reads a stop reason. Throws {@link UpstreamFault} for a missing one and for a malformed answer. Unknown reasons pass, because
 * new models have new ones.
 */
function readFinish(reason: unknown): FinishEvent {
  if (typeof reason !== "string" || reason === "") throw new UpstreamFault("The answer has no stop reason");
  if (MALFORMED.has(reason)) throw new UpstreamFault("The model's output is malformed");
  return { kind: "finish", reason: FINISHES.get(reason) ?? "stop", stopSequence: undefined };
}
