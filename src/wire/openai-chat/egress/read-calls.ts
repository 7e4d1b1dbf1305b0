import type { OutputEvent } from "../../../domain/chat-event.ts";
import type { Source } from "../../codecs.ts";
import { isTooDeep } from "../../json/depth.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import { UpstreamFault } from "../../protocol.ts";
import { createCallFinder, generateCallId } from "../call-finder.ts";
import type { FinishReason } from "../finish-reason.ts";
import { encodeHostState, readThoughtSignature } from "../reasoning.ts";

/** A call whose name may still be awaited. */
interface PendingCall {
  id: string;
  /** Its number among the calls that have begun. */
  number: number | undefined;
  /** Input that came before the name. */
  waiting: string;
  /** Gemini's signature over the call, "" for none. */
  signature: string;
}

/** More than one event, or one whole answer, has of any model. */
const FRAGMENTS_MAX = 10_000;
const WAITING_CHARS_MAX = 1024 * 1024;
/** No host gives an index below 0: the one call of the old form has it to itself. */
const OLD_CALL_INDEX = -1;

/**
 * Reads the tool calls of one answer, streamed or whole, into events. A call begins with its name, behind the seal of
 * its signature: a client that leaves out what stands last in an answer still has that.
 */
export function createCallReader(source?: Source) {
  const finder = createCallFinder();
  const heard: PendingCall[] = [];
  const ids = new Set<string>();
  let begun = 0;
  let waitingChars = 0;

  /** Clients tell calls by their ids: one that was given twice is replaced. */
  const takeId = (id: string, ownId: string): string => {
    const taken = id === "" || ids.has(id) ? ownId : id;
    ids.add(taken);
    return taken;
  };

  const wait = (call: PendingCall, json: string): void => {
    waitingChars += json.length;
    if (waitingChars > WAITING_CHARS_MAX) throw new UpstreamFault("A tool call has no name");
    call.waiting += json;
  };

  const sealEvents = (signature: string, id: string): readonly OutputEvent[] => {
    if (signature === "" || !source) return [];
    const data = encodeHostState(source.origin, { kind: "call", signature, id });
    return [{ kind: "redacted_reasoning", data }];
  };

  const readAll = (fragments: readonly unknown[], place: string): readonly OutputEvent[] => {
    if (fragments.length > FRAGMENTS_MAX) throw new UpstreamFault("There are too many tool calls");
    return fragments.flatMap((fragment) => readFragment(fragment, place));
  };

  const readFragment = (delta: unknown, place: string): readonly OutputEvent[] => {
    if (!isJsonObject(delta)) throw new UpstreamFault("A tool call is no object");
    const { index } = finder.find(delta);
    const call = heard[index] ?? { id: "", number: undefined, waiting: "", signature: "" };
    heard[index] = call;
    if (call.id === "") call.id = readText(delta.id);
    const { name, arguments: input } = isJsonObject(delta.function) ? delta.function : {};
    const json = readInput(input);
    const late = call.signature === "" ? readThoughtSignature(delta) : "";
    call.signature ||= late;
    if (call.number !== undefined) return [...sealEvents(late, call.id), ...inputEvents(call.number, json)];
    if (readText(name) === "") {
      wait(call, json);
      return [];
    }
    call.number = begun++;
    call.id = takeId(call.id, generateCallId(place, index));
    const { id, signature } = call;
    const begin: OutputEvent = { kind: "tool_call", call: call.number, id, name: readText(name) };
    return [...sealEvents(signature, id), begin, ...inputEvents(call.number, call.waiting + json)];
  };

  return {
    hasCalls: () => finder.count() > 0,

    /** The calls of a delta; `place` tells its answer from others. */
    readDelta(delta: JsonObject, place: string): readonly OutputEvent[] {
      return readAll([...readArray(delta.tool_calls), ...oldCallOf(delta)], place);
    },

    /** The calls of a whole message, where each element is a call of its own. */
    readMessage(message: JsonObject, place: string): readonly OutputEvent[] {
      const calls = readArray(message.tool_calls).map((call, index) =>
        isJsonObject(call) ? { ...call, index } : call,
      );
      return readAll([...calls, ...oldCallOf(message)], place);
    },

    /** Throws {@link UpstreamFault} when a call never got its name, unless the answer was cut off there. */
    close(reason: FinishReason): void {
      if (begun < finder.count() && reason !== "length") throw new UpstreamFault("A tool call has no name");
    },
  };
}

/** The call of the form that hosts had before there were several. */
function oldCallOf({ function_call: call }: JsonObject): readonly JsonObject[] {
  return isJsonObject(call) ? [{ index: OLD_CALL_INDEX, function: call }] : [];
}

/** Arguments are a text of JSON; some hosts send the JSON itself. */
function readInput(input: unknown): string {
  if (typeof input === "string") return input;
  if (!isSet(input)) return "";
  if (isTooDeep(input)) throw new UpstreamFault("The input of a tool call is nested too deeply");
  return JSON.stringify(input);
}

function inputEvents(call: number, json: string): readonly OutputEvent[] {
  return json === "" ? [] : [{ kind: "tool_input", call, json }];
}
