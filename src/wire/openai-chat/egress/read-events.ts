import type { ChatEvent } from "../../../domain/chat-event.ts";
import type { EventReader, Source } from "../../codecs.ts";
import { isJsonObject, type JsonObject, readArray } from "../../json/read.ts";
import { UpstreamFault } from "../../protocol.ts";
import { CHOICES_MAX, END_MARK, parseChunk, placeOf, readIndex, requireChoice } from "../chunk.ts";
import { finishEvent, readFinishReason } from "../finish-reason.ts";
import { readUsageEvents, usageOfChunk } from "../usage.ts";
import { createCallReader } from "./read-calls.ts";
import { createDeltaReader } from "./read-deltas.ts";

/** Reads a streamed chat answer of one choice into events. Media and what nobody knows are dropped. */
export function readEvents(source?: Source): EventReader {
  const said = createDeltaReader(source);
  const calls = createCallReader(source);
  let isFinished = false;
  let isDone = false;

  const readChoice = (element: unknown, chunk: JsonObject): readonly ChatEvent[] => {
    if (isFinished) return [];
    const choice = requireChoice(element);
    const place = placeOf(chunk, readIndex(choice, 1));
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const called = calls.readDelta(delta, place);
    const reason = readFinishReason(choice.finish_reason, calls.hasCalls());
    const output = [...said.read(delta, called.length > 0 || reason !== undefined), ...called];
    if (reason === undefined) return output;
    calls.close(reason);
    isFinished = true;
    return [...output, finishEvent(reason)];
  };

  const readChunk = (chunk: JsonObject): readonly ChatEvent[] => {
    const usage = readUsageEvents(usageOfChunk(chunk));
    const list = readArray(chunk.choices);
    // What a host still says behind its finish would come to the client before that.
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
      // A broken tail cannot take back an answer that is complete.
      if (isFinished) return [];
      throw new UpstreamFault("A chunk is not JSON");
    },
  };
}
