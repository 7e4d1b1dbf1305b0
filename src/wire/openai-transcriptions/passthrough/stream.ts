import { type JsonObject, readText } from "../../json/read.ts";
import type { ReplyReader } from "../../reply-part.ts";
import { readTypedStream } from "../../typed-stream.ts";
import { readTranscriptUsage } from "./reply.ts";

const FINISH = "transcript.text.done";
const OUTPUTS: readonly unknown[] = ["transcript.text.delta", "transcript.text.segment"];

/**
 * Reads a streamed transcript: pieces of text, then one event with the whole text and the usage.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/transcript-text-delta-event
 */
export function readStream(): ReplyReader {
  let hasPieces = false;

  function readOutput({ type, delta, text }: JsonObject): string | undefined {
    if (OUTPUTS.includes(type)) {
      hasPieces = true;
      return readText(delta) || readText(text);
    }
    // Some hosts send the whole text in the last event only; that of silent audio is empty.
    return type === FINISH && !hasPieces && typeof text === "string" ? text : undefined;
  }
  return readTypedStream({ finish: FINISH, readOutput, readUsage: readTranscriptUsage });
}
