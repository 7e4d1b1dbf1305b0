import {
  type FinishEvent,
  isCutOff,
  type OutputEvent,
  type ToolCallEvent,
} from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../format.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { printSse } from "../../sse.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { createToolInput, createToolUseIds, isBlank, requireInput, type ToolInput } from "./tool-calls.ts";

interface CallBlock extends Block {
  readonly input: ToolInput;
}

/**
 * Prints model output as the content blocks of a streamed message. Reasoning is printed for clients that
 * asked for it. Encrypted data that a host needs back with its calls is printed before them for every client.
 * The host would reject the results without it.
 */
export function createBlockPrinter(head: ReplyHead) {
  const { isReasoningShown: isShown, keepsSignatures: keepsEncrypted = isShown } = head;
  const writer = createBlockWriter();
  const idOf = createToolUseIds(head);
  const calls = new Map<number, CallBlock>();
  const withheld: string[] = [];

  const addRedacted = (data: string): string => {
    if (keepsEncrypted) return writer.begin(redactedBlock(data));
    if (!isHostReasoning(data)) return writer.separate();
    withheld.push(data);
    return "";
  };

  const printWithheld = (): string =>
    withheld
      .splice(0)
      .map((data) => writer.begin(redactedBlock(data)))
      .join("");

  const beginCall = ({ call, id, name }: ToolCallEvent): string => {
    const before = printWithheld();
    const block = createCallBlock(idOf(id), name);
    calls.set(call, block);
    return before + writer.begin(block);
  };

  const addInput = (call: number, json: string): string => {
    const block = calls.get(call);
    if (!block) return "";
    if (isBlank(json) && (block.input.isEmpty() || block.input.isComplete())) return "";
    block.input.add(json);
    return writer.add(block, `{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}`);
  };

  return {
    /** Returns the events for one step of output, "" when the client receives nothing yet. */
    print(event: OutputEvent): string {
      switch (event.kind) {
        case "text":
        case "refusal":
          return writer.addText(event.kind, event.text);
        case "reasoning":
          return isShown ? writer.addReasoning(event.text) : writer.separate();
        case "reasoning_signature":
          return keepsEncrypted ? writer.addSignature(event.signature) : writer.separate();
        case "redacted_reasoning":
          return addRedacted(event.data);
        case "tool_call":
          return beginCall(event);
        default:
          return addInput(event.call, event.json);
      }
    },

    /**
     * Returns the remaining events. Throws `UpstreamFault` for a call with an incomplete input in an answer
     * not cut off.
     */
    end(finish: FinishEvent): string {
      if (!isCutOff(finish)) for (const { input } of calls.values()) requireInput(input.text());
      return (calls.size > 0 ? printWithheld() : "") + writer.end();
    },
  };
}

/** `content_block` in JSON for the start of each block that grows by deltas. A refusal is printed as text. */
const STARTS = {
  text: '{"type":"text","text":""}',
  refusal: '{"type":"text","text":""}',
  reasoning: '{"type":"thinking","thinking":"","signature":""}',
} as const;

/** Appends each delta to the latest block of its kind, or begins another block. */
function createBlockWriter() {
  const queue = createBlockQueue();
  let latest: Block | undefined;
  let isSigned = false;

  const begin = (block: Block): string => {
    latest = block;
    isSigned = false;
    return queue.begin(block);
  };

  const addTo = (kind: keyof typeof STARTS, delta: string): string => {
    const isOther = latest?.kind !== kind || isSigned;
    const begun = isOther ? begin({ kind, start: STARTS[kind], isComplete: () => true }) : "";
    return latest ? begun + queue.add(latest, delta) : begun;
  };

  return {
    begin,
    add: queue.add,
    end: queue.end,

    addText: (kind: "text" | "refusal", text: string): string =>
      text === "" ? "" : addTo(kind, `{"type":"text_delta","text":${JSON.stringify(text)}}`),

    addReasoning: (text: string): string =>
      text === "" ? "" : addTo("reasoning", `{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`),

    /** Adds a signature, which ends its block. Hidden reasoning is a signed block with an empty text. */
    addSignature(signature: string): string {
      const text = addTo("reasoning", `{"type":"signature_delta","signature":${JSON.stringify(signature)}}`);
      isSigned = true;
      return text;
    },

    /** Separates the text before a hidden event from the text after it, as in a whole answer. */
    separate(): string {
      latest = undefined;
      return "";
    },
  };
}

function createCallBlock(id: string, name: string): CallBlock {
  const input = createToolInput();
  const start = JSON.stringify({ type: "tool_use", id, name, input: {} });
  return { kind: "tool_call", start, input, isComplete: input.isComplete };
}

function redactedBlock(data: string): Block {
  const start = JSON.stringify({ type: "redacted_thinking", data });
  return { kind: "redacted_reasoning", start, isComplete: () => true };
}

/** A content block to be printed. */
interface Block {
  readonly kind: "text" | "refusal" | "reasoning" | "redacted_reasoning" | "tool_call";
  /** JSON of `content_block`, as the block starts. */
  readonly start: string;
  /** Whether all deltas of the block have arrived, as far as this can be known. */
  isComplete(): boolean;
}

interface QueuedBlock {
  readonly block: Block;
  /** JSON of deltas that arrived before the block was started. */
  heldDeltas: string[];
}

/**
 * Prints blocks strictly one after another, numbered from 0. An incomplete block stays open, and the blocks
 * behind it wait until it is complete or the answer ends.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
function createBlockQueue() {
  const queue: QueuedBlock[] = [];
  const indexes = new Map<Block, number>();
  /** Index of the block that is being printed; -1 before the first. */
  let open = -1;

  const stopOpen = (): string => (open < 0 ? "" : printIndexed("content_block_stop", open, ""));

  const startNext = (): string => {
    open += 1;
    const next = queue[open];
    if (!next) return "";
    const started = printIndexed("content_block_start", open, `,"content_block":${next.block.start}`);
    const deltas = next.heldDeltas.map((delta) => printDelta(open, delta));
    next.heldDeltas = [];
    return started + deltas.join("");
  };

  const advance = (isEnd: boolean): string => {
    let text = "";
    while (open < queue.length - 1 && (isEnd || (queue[open]?.block.isComplete() ?? true))) {
      text += stopOpen() + startNext();
    }
    return text;
  };

  return {
    /** Adds a block. Returns the events that may be sent now, "" while the block waits. */
    begin(block: Block): string {
      indexes.set(block, queue.length);
      queue.push({ block, heldDeltas: [] });
      return advance(false);
    },

    /**
     * Adds a delta in JSON. Returns the events that may be sent now. Throws {@link UpstreamFault} for a
     * stopped block.
     */
    add(block: Block, delta: string): string {
      const index = indexes.get(block) ?? -1;
      if (index < open) throw new UpstreamFault("A tool call continues after its end");
      if (index === open) return printDelta(open, delta) + advance(false);
      queue[index]?.heldDeltas.push(delta);
      return "";
    },

    /** Returns the events of all waiting blocks, up to the stop of the last. */
    end(): string {
      return advance(true) + stopOpen();
    },
  };
}

function printDelta(index: number, delta: string): string {
  return printIndexed("content_block_delta", index, `,"delta":${delta}`);
}

function printIndexed(event: string, index: number, members: string): string {
  return printSse({ event, data: `{"type":"${event}","index":${index}${members}}` });
}
