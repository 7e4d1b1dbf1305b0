import type { ToolCallPart } from "../../domain/chat-request.ts";
import { isTooDeep } from "../json-depth.ts";
import { isJsonObject, isSet, type JsonObject, parseJsonObject } from "../json-read.ts";
import { measureJson } from "../json-scan.ts";
import { refuse, refuseUntranslatable } from "../request-body.ts";
import { requireObject, requireText } from "./read-member.ts";

/** JSON inside of strings is not counted with the body's own: all of it together may have as many values. */
const VALUES_MAX = 1_000_000;

/** Reads the tool calls of a conversation's assistant messages, one message after the other. */
export function createHistoryCalls() {
  /** Ids of calls in the old form, which has none, by the function's name. */
  const oldIds = new Map<string, string>();
  let values = 0;

  /** The arguments, which must be a JSON object in a text; "" is how some clients say none. */
  const readArguments = (said: JsonObject, path: string): string => {
    const { arguments: input = "" } = said;
    const at = `${path}.arguments`;
    if (isJsonObject(input)) return isTooDeep(input) ? refuse(at) : JSON.stringify(input);
    if (!isSet(input)) return "{}";
    if (typeof input !== "string") refuse(at);
    if (input.trim() === "") return "{}";
    values += measureJson(input).values;
    if (values > VALUES_MAX) refuse(at);
    const parsed = parseJsonObject(input);
    return parsed === undefined || isTooDeep(parsed) ? refuse(at) : input;
  };

  const readCall = (call: unknown, path: string): ToolCallPart => {
    if (!isJsonObject(call)) refuse(path);
    if (isSet(call.type) && call.type !== "function") refuseUntranslatable(`${path}.type`);
    const said = requireObject(call, "function", path);
    return callPart(requireText(call, "id", path), {
      name: requireText(said, "name", `${path}.function`),
      input: readArguments(said, `${path}.function`),
    });
  };

  const readOldCall = (call: JsonObject, { path, position }: Place): ToolCallPart => {
    const name = requireText(call, "name", path);
    const id = `call_function_${position}`;
    oldIds.set(name, id);
    return callPart(id, { name, input: readArguments(call, path) });
  };

  return {
    read(message: JsonObject, { path, position }: Place): readonly ToolCallPart[] {
      const { tool_calls: calls, function_call: oldCall } = message;
      if (isSet(calls) && !Array.isArray(calls)) refuse(`${path}.tool_calls`);
      const read = ((calls ?? []) as readonly unknown[]).map((call, index) =>
        readCall(call, `${path}.tool_calls[${index}]`),
      );
      if (!isSet(oldCall)) return read;
      if (!isJsonObject(oldCall)) refuse(`${path}.function_call`);
      return [...read, readOldCall(oldCall, { path: `${path}.function_call`, position })];
    },

    /** The id that the latest call of a function in the old form was given here. */
    oldIdOf(message: JsonObject, path: string): string {
      return oldIds.get(requireText(message, "name", path)) ?? refuse(`${path}.name`);
    },
  };
}

interface Place {
  readonly path: string;
  /** Of the message in its list. */
  readonly position: number;
}

function callPart(id: string, said: { readonly name: string; readonly input: string }): ToolCallPart {
  return { kind: "tool_call", id, ...said, cache: undefined };
}
