import { isJsonObject, type JsonObject, readText } from "../json-read.ts";
import { editElements, editMembers, type ValueEdit } from "../json-text.ts";
import { UpstreamFault } from "../wire-protocol.ts";

/** One tool call of a choice, under the index that the client sees. */
interface Call {
  readonly index: number;
  /** The upstream's id, "" until it gave one. */
  readonly id: string;
}

/** What may be remembered of all calls of a choice: thousands with ids of any sane length. */
const REMEMBERED_CHARS_MAX = 1024 * 1024;
/** What a call takes beside its id. */
const CALL_CHARS = 100;

type CallEdits = Readonly<Record<string, ValueEdit>>;

/**
 * Follows the tool calls of one choice through its deltas, and gives them what clients insist on: indexes
 * from 0 without gaps, and an id, a type and a text of arguments in the first fragment of each call.
 */
export function createToolCallReader() {
  const byUpstreamIndex = new Map<number, Call>();
  const byId = new Map<string, Call>();
  let calls = 0;
  let remembered = 0;
  let latest: Call | undefined;

  const open = (id: string): Call => {
    remembered += CALL_CHARS + id.length;
    if (remembered > REMEMBERED_CHARS_MAX) throw new UpstreamFault("There are too many tool calls");
    return { index: calls++, id };
  };

  const find = (delta: JsonObject): Call | undefined => {
    const id = readText(delta.id);
    const isNamed = isJsonObject(delta.function) && readText(delta.function.name) !== "";
    if (typeof delta.index !== "number") {
      if (id !== "") return byId.get(id);
      return isNamed ? undefined : latest;
    }
    const known = byUpstreamIndex.get(delta.index);
    // Some hosts give every call the index 0: a new id with a name is a new call.
    const isOther = isNamed && id !== "" && known !== undefined && known.id !== "" && known.id !== id;
    return isOther ? undefined : known;
  };

  return {
    hasCalls: () => calls > 0,

    /** An edit of the text of `tool_calls`, or `undefined` when all of it may stay. */
    read(deltas: readonly unknown[], streamId: string): ValueEdit | undefined {
      const edits = deltas.map((delta): CallEdits => {
        if (!isJsonObject(delta)) throw new UpstreamFault("A tool call is no object");
        const known = find(delta);
        const call = known ?? open(readText(delta.id));
        latest = call;
        if (call.id !== "") byId.set(call.id, call);
        if (typeof delta.index === "number") byUpstreamIndex.set(delta.index, call);
        const indexEdits = delta.index === call.index ? {} : { index: () => String(call.index) };
        const firstEdits = known === undefined ? completeFirst(delta, `${streamId}_${call.index}`) : {};
        return { ...indexEdits, ...firstEdits, ...completeArguments(delta, known === undefined) };
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
    ...(readText(delta.id) === "" && { id: () => JSON.stringify(`call_${ownId.replaceAll(/[^\w-]/g, "")}`) }),
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
