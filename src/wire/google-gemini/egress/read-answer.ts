import type { ChatEvent } from "../../../domain/chat-event.ts";
import type { EventReader, Source } from "../../codecs.ts";
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
import { UpstreamFault } from "../../upstream-fault.ts";
import { readPromptTooLong } from "../error.ts";
import { BLOCKED, readFinish } from "../finish-reason.ts";
import { readUsageEvents } from "../usage.ts";
import { createPartReader } from "./read-parts.ts";

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
      return [...readOutput(response), ...readUsageEvents(response.usageMetadata)];
    },
  };
}
