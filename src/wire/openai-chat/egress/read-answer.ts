import type { ChatEvent, OutputEvent } from "../../../domain/chat-event.ts";
import type { EventReader, Source } from "../../format.ts";
import { isTooDeep } from "../../json/bounds.ts";
import {
  ANSWER_MAX,
  isJsonObject,
  isSet,
  type JsonObject,
  parseJsonObject,
  readArray,
  readText,
} from "../../json/read.ts";
import { readUsageEvents, usageOfChunk } from "../../openai-usage.ts";
import { createTierReader, readServed } from "../../tiers.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import {
  callIdPrefixOf,
  createCallFinder,
  END_MARK,
  type FinishReason,
  finishEvent,
  generateCallId,
  parseChunk,
  readFinishReason,
  readIndex,
  rejectSurplus,
  requireChoice,
} from "../chunk.ts";
import { encodeHostState, readThoughtSignature } from "../reasoning.ts";
import { createDeltaReader } from "./read-deltas.ts";

/**
 * Reads a streamed chat answer of one choice into events. Drops media and unknown members.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function readEvents(source?: Source): EventReader {
  const deltas = createDeltaReader(source);
  const calls = createCallReader(source);
  const tiers = createTierReader();
  let isFinished = false;
  let isDone = false;

  const readChoice = (element: unknown, chunk: JsonObject): readonly ChatEvent[] => {
    if (isFinished) return [];
    const choice = requireChoice(element);
    const idPrefix = callIdPrefixOf(chunk, readIndex(choice, 1));
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const callEvents = calls.readDelta(delta, idPrefix);
    const reason = readFinishReason(choice.finish_reason, calls.hasCalls());
    const isLast = callEvents.length > 0 || reason !== undefined;
    const output = [...deltas.read(delta, isLast), ...callEvents];
    if (reason === undefined) return output;
    calls.close(reason);
    isFinished = true;
    return [...output, finishEvent(reason)];
  };

  const readChunk = (chunk: JsonObject): readonly ChatEvent[] => {
    const usage = readUsageEvents(usageOfChunk(chunk));
    const list = readArray(chunk.choices);
    // The finish is sent last, so output after it would reach the client in the wrong order.
    if (isFinished) return usage;
    rejectSurplus(list);
    return [...list.flatMap((choice) => readChoice(choice, chunk)), ...usage];
  };

  return {
    get finished() {
      return isFinished;
    },
    get done() {
      return isDone;
    },
    read(event) {
      if (isDone) return [];
      if (event.data.startsWith(END_MARK)) {
        isDone = true;
        if (!isFinished) throw new UpstreamFault("The answer ended without a finish");
        return [];
      }
      const chunk = parseChunk(event);
      if (chunk) return tiers(readServed(chunk.service_tier), readChunk(chunk));
      // Invalid JSON after the finish does not invalidate a complete answer.
      if (isFinished) return [];
      throw new UpstreamFault("A chunk is not JSON");
    },
  };
}

/**
 * Reads a whole chat answer of one choice into events. Throws {@link UpstreamFault} for anything else.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function readReply(text: string, source?: Source): readonly ChatEvent[] {
  const body = parseJsonObject(text, ANSWER_MAX);
  const [first, ...others] = readArray(body?.choices);
  if (body === undefined || body.error || others.length > 0)
    throw new UpstreamFault("The answer has several choices or reports an error");

  const choice = requireChoice(first);
  const { message } = choice;
  if (!isJsonObject(message)) throw new UpstreamFault("A choice has no message");
  const calls = createCallReader(source);
  const output = [
    ...createDeltaReader(source).read(message, true),
    ...calls.readMessage(message, callIdPrefixOf(body, readIndex(choice, 1))),
  ];
  const reason = readFinishReason(choice.finish_reason, calls.hasCalls());
  if (reason === undefined) throw new UpstreamFault("The answer has no finish");
  calls.close(reason);
  const events = [...output, finishEvent(reason), ...readUsageEvents(body.usage)];
  return createTierReader()(readServed(body.service_tier), events);
}

/** A call whose name may not have arrived yet. */
interface PendingCall {
  id: string;
  /** Its number among the calls that have begun; `undefined` until its name arrives. */
  number: number | undefined;
  /** Input that arrived before the name. */
  waiting: string;
  /** Gemini's signature of the call; "" for none. */
  signature: string;
}

/** Bound of the fragments in one event or one whole answer. */
const FRAGMENTS_MAX = 10_000;
const WAITING_CHARS_MAX = 1024 * 1024;
/** Index of the single call in the deprecated `function_call`; hosts send no index below 0. */
const FUNCTION_CALL_INDEX = -1;

/**
 * Reads the tool calls of one answer, streamed or whole, into events. A call begins when its name arrives.
 * The encoded signature of a call precedes it, because clients may drop what comes last in an answer.
 */
function createCallReader(source?: Source) {
  const finder = createCallFinder();
  const pending: PendingCall[] = [];
  const takeId = createUniqueIds();
  let begun = 0;
  let waitingChars = 0;

  const readAll = (fragments: readonly unknown[], idPrefix: string): readonly OutputEvent[] => {
    if (fragments.length > FRAGMENTS_MAX) throw new UpstreamFault("There are too many tool calls");
    return fragments.flatMap((fragment) => readFragment(fragment, idPrefix));
  };

  const readFragment = (delta: unknown, idPrefix: string): readonly OutputEvent[] => {
    if (!isJsonObject(delta)) throw new UpstreamFault("A tool call is not an object");
    const { index } = finder.find(delta);
    const call = pending[index] ?? { id: "", number: undefined, waiting: "", signature: "" };
    pending[index] = call;
    if (call.id === "") call.id = readText(delta.id);
    const { name, arguments: input } = isJsonObject(delta.function) ? delta.function : {};
    const json = readInput(input);
    const newSignature = call.signature === "" ? readThoughtSignature(delta) : "";
    call.signature ||= newSignature;
    if (call.number !== undefined)
      return [...signatureEvents(source, newSignature, call.id), ...inputEvents(call.number, json)];
    if (readText(name) === "") {
      waitingChars += json.length;
      if (waitingChars > WAITING_CHARS_MAX) throw new UpstreamFault("A tool call has no name");
      call.waiting += json;
      return [];
    }
    call.number = begun++;
    call.id = takeId(call.id, generateCallId(idPrefix, index));
    const { id, signature } = call;
    const begin: OutputEvent = { kind: "tool_call", call: call.number, id, name: readText(name) };
    const signed = signatureEvents(source, signature, id);
    return [...signed, begin, ...inputEvents(call.number, call.waiting + json)];
  };

  return {
    hasCalls: () => finder.count() > 0,

    /** Reads the calls of a delta. `idPrefix` makes generated ids unique among all answers. */
    readDelta(delta: JsonObject, idPrefix: string): readonly OutputEvent[] {
      return readAll([...readArray(delta.tool_calls), ...functionCallOf(delta)], idPrefix);
    },

    /** Reads the calls of a whole message, in which every element is a separate call. */
    readMessage(message: JsonObject, idPrefix: string): readonly OutputEvent[] {
      const calls = readArray(message.tool_calls).map((call, index) =>
        isJsonObject(call) ? { ...call, index } : call,
      );
      return readAll([...calls, ...functionCallOf(message)], idPrefix);
    },

    /** Throws {@link UpstreamFault} for a call without a name, unless the length limit cut the answer off. */
    close(reason: FinishReason): void {
      if (begun < finder.count() && reason !== "length") throw new UpstreamFault("A tool call has no name");
    },
  };
}

/** Replaces missing and repeated ids of calls with generated ones: clients identify calls by their ids. */
function createUniqueIds(): (id: string, generated: string) => string {
  const ids = new Set<string>();
  return (id, generated) => {
    const unique = id === "" || ids.has(id) ? generated : id;
    ids.add(unique);
    return unique;
  };
}

/** Returns the deprecated `function_call` as a tool call. */
function functionCallOf({ function_call: call }: JsonObject): readonly JsonObject[] {
  return isJsonObject(call) ? [{ index: FUNCTION_CALL_INDEX, function: call }] : [];
}

/** Reads arguments, a text of JSON; some hosts send the JSON itself. */
function readInput(input: unknown): string {
  if (typeof input === "string") return input;
  if (!isSet(input)) return "";
  if (isTooDeep(input)) throw new UpstreamFault("The input of a tool call is nested too deeply");
  return JSON.stringify(input);
}

function signatureEvents(source: Source | undefined, signature: string, id: string): readonly OutputEvent[] {
  if (signature === "" || !source) return [];
  const data = encodeHostState(source.origin, { kind: "call", signature, id });
  return [{ kind: "redacted_reasoning", data }];
}

function inputEvents(call: number, json: string): readonly OutputEvent[] {
  return json === "" ? [] : [{ kind: "tool_input", call, json }];
}
