import type { OutputEvent, ReplyBlock } from "../domain/chat-event.ts";
import { isTooDeep } from "./json/bounds.ts";
import { isJsonObject, isSet, readText } from "./json/read.ts";
import { UpstreamFault } from "./upstream-fault.ts";

/** Blocks per answer. No model produces so many, and this many still cost little time and memory. */
export const BLOCKS_MAX = 10_000;

/** Returns the event of a text; no event for an empty text and for any other type. */
export function textEvents(kind: "text" | "reasoning", value: unknown): readonly OutputEvent[] {
  const text = readText(value);
  return text === "" ? [] : [{ kind, text }];
}

/**
 * Prints the input that came with a call as JSON: its original text if known. Returns "" for an empty input.
 * Throws {@link UpstreamFault} unless it is an object within the depth bound.
 */
export function printCallInput(input: unknown, rawInput?: string): string {
  if (!isSet(input)) return "";
  if (!isJsonObject(input) || isTooDeep(input))
    throw new UpstreamFault("The input of a tool call is no object");
  const json = JSON.stringify(input);
  return json === "{}" ? "" : (rawInput ?? json);
}

/** Returns the events of one block of a whole answer. The position of a call's block is used as the number of the call. */
export function blockEvents(block: ReplyBlock, position: number): readonly OutputEvent[] {
  switch (block.kind) {
    case "tool_call":
      return [
        { kind: "tool_call", call: position, id: block.id, name: block.name },
        { kind: "tool_input", call: position, json: block.input },
      ];
    case "reasoning": {
      const { text, signature } = block;
      const signed = signature === undefined ? [] : [{ kind: "reasoning_signature", signature } as const];
      return [{ kind: "reasoning", text }, ...signed];
    }
    default:
      return [block];
  }
}
