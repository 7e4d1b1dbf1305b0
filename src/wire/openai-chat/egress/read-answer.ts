import type { ChatEvent } from "../../../domain/chat-event.ts";
import type { EventReader, Source } from "../../codecs.ts";
import { ANSWER_MAX, isJsonObject, type JsonObject, parseJsonObject, readArray } from "../../json/read.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { CHOICES_MAX, callIdPrefixOf, END_MARK, parseChunk, readIndex, requireChoice } from "../chunk.ts";
import { finishEvent, readFinishReason } from "../finish-reason.ts";
import { readUsageEvents, usageOfChunk } from "../usage.ts";
import { createCallReader } from "./read-calls.ts";
import { createDeltaReader } from "./read-deltas.ts";

/**
 * Reads a streamed chat answer of one choice into events. Drops media and unknown members.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function readEvents(source?: Source): EventReader {
  const deltas = createDeltaReader(source);
  const calls = createCallReader(source);
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
    if (list.length > CHOICES_MAX) throw new UpstreamFault("There are too many choices");
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
      if (chunk) return readChunk(chunk);
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
  return [...output, finishEvent(reason), ...readUsageEvents(body.usage)];
}
