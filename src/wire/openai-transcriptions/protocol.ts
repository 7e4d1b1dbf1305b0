import { createUntranslated } from "../untranslated.ts";
import { readWhole } from "./passthrough/reply.ts";
import { readStream } from "./passthrough/stream.ts";
import { promptText, readForm } from "./request.ts";

/**
 * OpenAI's transcription of audio. Its request body is a form with a file.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
export const openaiTranscriptions = createUntranslated({
  surface: "transcriptions",
  path: "/v1/audio/transcriptions",
  upstreamPath: "/audio/transcriptions",
  form: { readForm, promptText },
  parseRequest() {
    throw new Error("A transcription request is a form");
  },
  printUpstreamRequest() {
    throw new Error("A transcription request is a form");
  },
  readStream,
  readWhole,
});
