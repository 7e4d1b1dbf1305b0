import { type JsonObject, readText } from "../../json/read.ts";
import { readUsage } from "../../openai-responses/usage.ts";
import type { ReplyReader } from "../../reply-part.ts";
import { readTypedStream } from "../../typed-stream.ts";

/**
 * Reads speech that is streamed as events: pieces of audio in base64, then one with the usage.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event
 */
export function readStream(): ReplyReader {
  return readTypedStream({
    finish: "speech.audio.done",
    // Audio is not text, so it adds nothing to a local count.
    readOutput: ({ type, audio }: JsonObject) =>
      type === "speech.audio.delta" && readText(audio) !== "" ? "" : undefined,
    readUsage: ({ usage }) => ({ usage: readUsage(usage) }),
  });
}
