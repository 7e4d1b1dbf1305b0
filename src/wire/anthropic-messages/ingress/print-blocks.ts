import type { FinishEvent, OutputEvent, ToolCallEvent } from "../../../domain/chat-event.ts";
import type { ReplyHead } from "../../codecs.ts";
import { isHostSeal } from "../../host-seal.ts";
import { createToolUseIds } from "../call-ids.ts";
import { type Block, createBlockLine } from "./block-line.ts";
import { isCut } from "./print-stop-reason.ts";
import { createToolInput, isBlank, requireInput, type ToolInput } from "./tool-calls.ts";

/** How blocks start that grow by deltas. A refusal is text that its stop reason speaks of. */
const STARTS = {
  text: '{"type":"text","text":""}',
  refusal: '{"type":"text","text":""}',
  reasoning: '{"type":"thinking","thinking":"","signature":""}',
} as const;

interface CallBlock extends Block {
  readonly input: ToolInput;
}

/** Writes blocks that follow each other; deltas go to the latest while it is of their kind. */
function createBlockWriter() {
  const line = createBlockLine();
  let latest: Block | undefined;
  let isSealed = false;

  const begin = (block: Block): string => {
    latest = block;
    isSealed = false;
    return line.begin(block);
  };

  /** Adds to the latest block if it is of this kind, else to a new one. */
  const addTo = (kind: keyof typeof STARTS, delta: string): string => {
    const isOther = latest?.kind !== kind || isSealed;
    const begun = isOther ? begin({ kind, start: STARTS[kind], isComplete: () => true }) : "";
    return latest ? begun + line.add(latest, delta) : begun;
  };

  return {
    begin,
    add: line.add,
    end: line.end,

    addText: (kind: "text" | "refusal", text: string): string =>
      text === "" ? "" : addTo(kind, `{"type":"text_delta","text":${JSON.stringify(text)}}`),

    addReasoning: (text: string): string =>
      text === "" ? "" : addTo("reasoning", `{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`),

    /** A signature over reasoning that is not shown is one over an empty text. */
    seal(signature: string): string {
      const text = addTo("reasoning", `{"type":"signature_delta","signature":${JSON.stringify(signature)}}`);
      isSealed = true;
      return text;
    },

    /** What is not shown still parts what stands on its two sides, as in a whole answer. */
    part(): string {
      latest = undefined;
      return "";
    },
  };
}

/**
 * Prints what a model puts out as the blocks of a streamed message. Reasoning is shown to those who asked for it. What
 * a host wants back with its calls stands before them for everybody: their results would be refused without.
 */
export function createBlockPrinter(head: ReplyHead) {
  const { isReasoningShown: isShown, keepsSeals = isShown } = head;
  const writer = createBlockWriter();
  const idOf = createToolUseIds(head);
  const calls = new Map<number, CallBlock>();
  const withheld: string[] = [];

  const addRedacted = (data: string): string => {
    if (keepsSeals) return writer.begin(redacted(data));
    if (!isHostSeal(data)) return writer.part();
    withheld.push(data);
    return "";
  };

  const giveWithheld = (): string =>
    withheld
      .splice(0)
      .map((data) => writer.begin(redacted(data)))
      .join("");

  const beginCall = ({ call, id, name }: ToolCallEvent): string => {
    const given = giveWithheld();
    const block = createCall(idOf(id), name);
    calls.set(call, block);
    return given + writer.begin(block);
  };

  const addInput = (call: number, json: string): string => {
    const block = calls.get(call);
    if (!block) return "";
    if (isBlank(json) && (block.input.isEmpty() || block.input.isComplete())) return "";
    block.input.add(json);
    return writer.add(block, `{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}`);
  };

  return {
    /** What the client sees of one step, "" for nothing. */
    print(event: OutputEvent): string {
      switch (event.kind) {
        case "text":
        case "refusal":
          return writer.addText(event.kind, event.text);
        case "reasoning":
          return isShown ? writer.addReasoning(event.text) : writer.part();
        case "reasoning_seal":
          return keepsSeals ? writer.seal(event.signature) : writer.part();
        case "redacted_reasoning":
          return addRedacted(event.data);
        case "tool_call":
          return beginCall(event);
        default:
          return addInput(event.call, event.json);
      }
    },

    /** The rest. Throws `UpstreamFault` for a call without a whole input, unless the answer was cut off. */
    end(finish: FinishEvent): string {
      if (!isCut(finish)) for (const { input } of calls.values()) requireInput(input.text());
      return (calls.size > 0 ? giveWithheld() : "") + writer.end();
    },
  };
}

function createCall(id: string, name: string): CallBlock {
  const input = createToolInput();
  const start = JSON.stringify({ type: "tool_use", id, name, input: {} });
  return { kind: "tool_call", start, input, isComplete: input.isComplete };
}

function redacted(data: string): Block {
  const start = JSON.stringify({ type: "redacted_thinking", data });
  return { kind: "redacted_reasoning", start, isComplete: () => true };
}
