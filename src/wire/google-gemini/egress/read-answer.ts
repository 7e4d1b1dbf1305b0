import type { ChatEvent, OutputEvent } from "../../../domain/chat-event.ts";
import type { EventReader, Source } from "../../format.ts";
import { createCallIds } from "../../identifiers.ts";
import { isTooDeep } from "../../json/bounds.ts";
import {
  ANSWER_MAX,
  EVENT_MAX,
  isJsonObject,
  isSet,
  type JsonObject,
  parseJsonObject,
  readArray,
  readText,
} from "../../json/read.ts";
import { createTierReader, readGeminiServed } from "../../tiers.ts";
import {
  findPromptTooLong,
  type PromptTooLong,
  type TooLongPhrases,
  UpstreamFault,
} from "../../upstream-fault.ts";
import { BLOCKED, readFinish } from "../finish-reason.ts";
import { encodeSignature } from "../thinking.ts";
import { readUsageEvent } from "../usage.ts";

/**
 * Reads a streamed answer of one candidate into events. The stream has no end mark: it ends with its
 * connection, after the chunk with the finish reason.
 *
 * @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export function readEvents(source?: Source): EventReader {
  const reader = createResponseReader(source);
  return {
    get finished() {
      return reader.isFinished();
    },
    done: false,
    read({ data }) {
      const chunk = parseJsonObject(data, EVENT_MAX);
      if (chunk) return reader.read(chunk, data);
      // Invalid JSON after the finish does not invalidate a complete answer.
      if (reader.isFinished()) return [];
      throw new UpstreamFault("A chunk is not JSON");
    },
  };
}

/**
 * Reads a whole answer of one candidate into events. Throws {@link UpstreamFault} for anything else.
 *
 * @see https://ai.google.dev/api/generate-content#generatecontentresponse
 */
export function readReply(text: string, source?: Source): readonly ChatEvent[] {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined) throw new UpstreamFault("The answer is not JSON");
  const reader = createResponseReader(source);
  const events = reader.read(body, text);
  if (!reader.isFinished()) throw new UpstreamFault("The answer has no finish");
  return events;
}

/** Reads the `GenerateContentResponse` objects of one answer: one object, or one for each chunk. */
function createResponseReader(source: Source | undefined) {
  const parts = createPartReader(source);
  const tiers = createTierReader();
  let isFinished = false;

  function readCandidate(candidate: JsonObject): readonly ChatEvent[] {
    const content = isJsonObject(candidate.content) ? candidate.content : {};
    const output = readArray(content.parts).flatMap(parts.read);
    const finish = readFinish(candidate.finishReason);
    if (!finish) return output;
    isFinished = true;
    return [...output, ...parts.close(), finish];
  }

  function readOutput({ candidates, promptFeedback }: JsonObject): readonly ChatEvent[] {
    // The finish is sent last, so output after it would reach the client in the wrong order.
    if (isFinished) return [];
    const [candidate, ...others] = readArray(candidates);
    if (others.length > 0) throw new UpstreamFault("There are several candidates");
    if (isJsonObject(candidate)) return readCandidate(candidate);
    if (!isJsonObject(promptFeedback) || !isSet(promptFeedback.blockReason)) return [];
    isFinished = true;
    return [BLOCKED];
  }

  return {
    isFinished: () => isFinished,

    /** Reads one object. `text` is its JSON, which is searched if it reports an error. */
    read(response: JsonObject, text: string): readonly ChatEvent[] {
      if (isSet(response.error)) {
        throw new UpstreamFault("The upstream reported an error", readPromptTooLong(text));
      }
      parts.begin(readText(response.responseId));
      const { usageMetadata } = response;
      const usage = readUsageEvent(usageMetadata);
      const events = usage ? [...readOutput(response), usage] : readOutput(response);
      return isJsonObject(usageMetadata) ? tiers(readGeminiServed(usageMetadata), events) : events;
    },
  };
}

/** Bound of the parts of one answer. Each may begin a block for the client. */
const PARTS_MAX = 100_000;
const RESPONSE_ID_CHARS = 24;

/**
 * Reads the parts of one answer, streamed or whole, into events. Thoughts become reasoning, and the signatures
 * of thoughts become encrypted reasoning of their origin. Drops media and parts of tools that Google runs.
 */
function createPartReader(source: Source | undefined) {
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

const TOO_LONG: TooLongPhrases = {
  phrase: /input token count.{0,40}exceeds|exceeds the maximum (?:number of tokens|token limit)/i,
  tokens: [/input token count\D{0,20}(\d[\d,]{0,11})/i],
};

/**
 * Returns whether an upstream error rejects the prompt as too long.
 *
 * @see https://ai.google.dev/gemini-api/docs/troubleshooting
 */
export function readPromptTooLong(text: string): PromptTooLong | undefined {
  return findPromptTooLong(text, TOO_LONG);
}
