import type { ChatEvent, OutputEvent } from "../../../domain/chat-event.ts";
import type { Source } from "../../codecs.ts";
import { createCallIds } from "../../identifiers.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { encodeSignature } from "../thought-signature.ts";

/** Bound of the parts of one answer. Each may begin a block for the client. */
const PARTS_MAX = 100_000;
const RESPONSE_ID_CHARS = 24;

/**
 * Reads the parts of one answer, streamed or whole, into events. Thoughts become reasoning, and the signatures
 * of thoughts become encrypted reasoning of their origin. Drops media and parts of tools that Google runs.
 */
export function createPartReader(source: Source | undefined) {
  let responseId = "";
  let parts = 0;
  let calls = 0;
  let hasText = false;
  /** The signature of a text that has begun: an event before its end would split it. */
  let waiting = "";
  const idOf = createCallIds((used) => `call_${`${responseId}_${used}`.replaceAll(/[^\w-]/g, "")}`);

  const signed = (signature: string, callId?: string): readonly OutputEvent[] => {
    if (signature === "" || !source) return [];
    const data = encodeSignature(source.origin, { signature, callId });
    return [{ kind: "redacted_reasoning", data }];
  };

  /** Gemini sends a call whole. Its signature precedes it, because clients may drop what comes last. */
  const readCall = ({ id, name, args }: JsonObject, signature: string): readonly OutputEvent[] => {
    if (readText(name) === "") throw new UpstreamFault("A function call has no name");
    const callId = idOf(readText(id));
    const call = calls++;
    return [
      ...signed(signature, callId),
      { kind: "tool_call", call, id: callId, name: readText(name) },
      { kind: "tool_input", call, json: readArguments(args) },
    ];
  };

  const readTextPart = (text: string, signature: string): readonly OutputEvent[] => {
    const leading = hasText ? [] : signed(signature);
    if (hasText) waiting = signature || waiting;
    hasText ||= text !== "";
    return text === "" ? leading : [...leading, { kind: "text", text }];
  };

  return {
    /** Sets the id of the answer, which makes generated ids of calls unique among all answers. */
    begin(id: string): void {
      responseId = id.slice(-RESPONSE_ID_CHARS);
    },

    /** Throws {@link UpstreamFault} for a malformed part and above the bound. */
    read(part: unknown): readonly OutputEvent[] {
      parts += 1;
      if (!isJsonObject(part) || parts > PARTS_MAX) throw new UpstreamFault("A part is malformed");
      const { functionCall: call, text } = part;
      const signature = readText(part.thoughtSignature);
      if (isJsonObject(call)) return readCall(call, signature);
      if (typeof text !== "string") return [];
      return part.thought === true ? readThought(text) : readTextPart(text, signature);
    },

    /** Returns the events that must precede the finish. */
    close: (): readonly ChatEvent[] => signed(waiting),
  };
}

function readThought(text: string): readonly OutputEvent[] {
  return text === "" ? [] : [{ kind: "reasoning", text }];
}

/** Returns the arguments as JSON; a call without parameters has none. */
function readArguments(args: unknown): string {
  if (!isSet(args)) return "{}";
  if (!isJsonObject(args) || isTooDeep(args))
    throw new UpstreamFault("The arguments of a call are no object");
  return JSON.stringify(args);
}
