import { isJsonObject, type JsonObject, readText } from "../json/read.ts";
import { UpstreamFault } from "../protocol.ts";

/** One tool call of a choice, numbered from 0 in the order in which they came. */
interface FoundCall {
  readonly index: number;
  /** The upstream's id, "" until it gave one. */
  readonly id: string;
  readonly isFirstFragment: boolean;
}

type Call = Omit<FoundCall, "isFirstFragment">;

/** What may be remembered of all calls of a choice: thousands with ids of any sane length. */
const REMEMBERED_CHARS_MAX = 1024 * 1024;
/** What a call takes beside its id. */
const CALL_CHARS = 100;

/** Tells which tool call of one choice a fragment belongs to: hosts give indexes, ids, both or neither. */
export function createCallFinder() {
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

  const findKnown = (delta: JsonObject): Call | undefined => {
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
    count: () => calls,

    /** Throws {@link UpstreamFault} when there are more calls than can be told apart. */
    find(delta: JsonObject): FoundCall {
      const known = findKnown(delta);
      const call = known ?? open(readText(delta.id));
      latest = call;
      if (call.id !== "") byId.set(call.id, call);
      if (typeof delta.index === "number") byUpstreamIndex.set(delta.index, call);
      return { index: call.index, id: call.id, isFirstFragment: known === undefined };
    },
  };
}

/** An id for a call that the upstream gave none. `place` is what tells it from calls of other answers. */
export function generateCallId(place: string, index: number): string {
  return `call_${`${place}_${index}`.replaceAll(/[^\w-]/g, "")}`;
}
