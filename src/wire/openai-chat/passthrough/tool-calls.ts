import { editElements, editMembers, type ValueEdit } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import { UpstreamFault } from "../../protocol.ts";
import { createCallFinder, generateCallId } from "../call-finder.ts";

type CallEdits = Readonly<Record<string, ValueEdit>>;

/**
 * Follows the tool calls of one choice through its deltas, and gives them what clients insist on: indexes
 * from 0 without gaps, and an id, a type and a text of arguments in the first fragment of each call.
 */
export function createToolCallReader() {
  const calls = createCallFinder();

  return {
    hasCalls: () => calls.count() > 0,

    /** An edit of the text of `tool_calls`, or `undefined` when all of it may stay. */
    read(deltas: readonly unknown[], place: string): ValueEdit | undefined {
      const edits = deltas.map((delta): CallEdits => {
        if (!isJsonObject(delta)) throw new UpstreamFault("A tool call is no object");
        const { index, isFirstFragment } = calls.find(delta);
        const indexEdits = delta.index === index ? {} : { index: () => String(index) };
        const firstEdits = isFirstFragment ? completeFirst(delta, generateCallId(place, index)) : {};
        return { ...indexEdits, ...firstEdits, ...completeArguments(delta, isFirstFragment) };
      });
      if (edits.every((each) => Object.keys(each).length === 0)) return undefined;
      return (text) =>
        text && editElements(text, (call, position) => editMembers(call, edits[position] ?? {}));
    },
  };
}

function completeFirst(delta: JsonObject, ownId: string): CallEdits {
  const type = isJsonObject(delta.custom) ? "custom" : "function";
  return {
    ...(readText(delta.id) === "" && { id: () => JSON.stringify(ownId) }),
    ...(readText(delta.type) === "" && { type: () => JSON.stringify(type) }),
  };
}

function completeArguments(delta: JsonObject, isFirst: boolean): CallEdits {
  if (isJsonObject(delta.custom)) return {};
  const input = isJsonObject(delta.function) ? delta.function.arguments : undefined;
  if (typeof input === "string" || (input === undefined && !isFirst)) return {};
  return {
    function: (text) =>
      editMembers(isJsonObject(delta.function) && text ? text : "{}", { arguments: asText }),
  };
}

/** Arguments are a text of JSON; some hosts send the JSON itself. */
function asText(value: string | undefined): string {
  return value === undefined || value === "null" ? '""' : JSON.stringify(value);
}
