import { createUntranslated } from "../untranslated.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { readStream } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * OpenAI's speech from a text. Without `stream_format: sse` the answer is the bytes of an audio file.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createSpeech
 */
export const openaiSpeech = createUntranslated({
  surface: "speech",
  path: "/v1/audio/speech",
  upstreamPath: "/audio/speech",
  headers: { accept: "*/*" },
  parseRequest,
  printUpstreamRequest,
  readStream,
  readWhole() {
    throw new UpstreamFault("Speech is not text");
  },
});
