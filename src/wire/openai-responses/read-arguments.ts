import { isTooDeep } from "../json-depth.ts";
import { isSet, type JsonObject, parseJsonObject } from "../json-read.ts";
import { measureJson } from "../json-scan.ts";
import { refuse } from "../request-body.ts";

/** JSON inside of strings is not counted with the body's own: all of it together may have as many values. */
const VALUES_MAX = 1_000_000;

/**
 * Reads the arguments of calls, one after the other, as texts of JSON objects; none are an empty one. Those that a
 * model got wrong come back with the tool's complaint, and are wrapped so that the conversation can go on; wrong
 * ones that nobody has answered are the client's own.
 */
export function createArgumentsReader(isAnswered: (callId: unknown) => boolean) {
  let values = 0;
  return (call: JsonObject, path: string): string => {
    const { arguments: input, call_id: callId } = call;
    const place = `${path}.arguments`;
    if (!isSet(input)) return "{}";
    if (typeof input !== "string") refuse(place);
    if (input.trim() === "") return "{}";
    values += measureJson(input).values;
    if (values > VALUES_MAX) refuse(place);
    const parsed = parseJsonObject(input);
    if (parsed === undefined) return isAnswered(callId) ? wrap(input) : refuse(place);
    return isTooDeep(parsed) ? refuse(place) : input;
  };
}

function wrap(text: string): string {
  return JSON.stringify({ unreadable_arguments: text });
}
