import { isJsonObject, type JsonObject, readText } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest } from "../model-request.ts";
import { readUsage } from "../openai-responses/response.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import type { ReplyReader } from "../reply-part.ts";
import {
  parseBody,
  readNumber,
  reject,
  requireFilledText,
  requireModel,
  requireText,
} from "../request-body.ts";
import { readTypedStream } from "../typed-stream.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import {
  createUntranslated,
  fieldsWith,
  plainFacts,
  printsOnce,
  UNPRICED_RULE,
  untranslatedRequest,
} from "./untranslated.ts";

const CHECKED = ["input", "voice", "instructions", "response_format", "stream_format"];
const FIELDS = fieldsWith(...CHECKED);

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
  printUpstreamRequest: printsOnce(CHECKED),
  readStream,
  readWhole() {
    throw new UpstreamFault("Speech is not text");
  },
});

/** Speech of 15 characters a second has about 21 tokens a second. */
const TOKENS_PER_CHARACTER = 1.5;

/**
 * Parses and checks a speech body. A character is a Unicode code point of `input`. The upstream checks the
 * names of voices and formats, and unknown fields.
 */
function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  const spoken = requireFilledText(body.input, "input");
  const { voice, instructions = "", response_format: format, stream_format: stream } = body;
  if (typeof voice !== "string" && !isJsonObject(voice)) reject("voice");
  const told = requireText(instructions ?? "", "instructions");
  if (typeof (format ?? "") !== "string") reject("response_format");
  if (stream !== undefined && stream !== null && stream !== "audio" && stream !== "sse")
    reject("stream_format");
  // Here the speed is that of the voice, which changes no price.
  const { speed: _, ...priced } = body;
  readNumber(body, "speed");
  UNPRICED_RULE.reject(priced, repeatsKeys);
  const characters = countCodePoints(spoken);
  const facts = plainFacts({
    model,
    stream: stream === "sse",
    input: inputSizeOf(text, TEXT_SIZE, repeatsKeys),
    outputTokensBound: "model",
    outputTokensUsual: Math.ceil(characters * TOKENS_PER_CHARACTER),
    isBinary: stream !== "sse",
    units: { name: "character", held: characters },
  });
  return untranslatedRequest(text, facts, () => `${told} ${spoken}`);
}

/** Counts without a list of all characters, which would take many times the memory of the text. */
function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * Reads speech that is streamed as events: pieces of audio in base64, then one with the usage.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event
 */
function readStream(): ReplyReader {
  return readTypedStream({
    finish: "speech.audio.done",
    // Audio is not text, so it adds nothing to a local count.
    readOutput: ({ type, audio }: JsonObject) =>
      type === "speech.audio.delta" && readText(audio) !== "" ? "" : undefined,
    readUsage: ({ usage }) => ({ usage: readUsage(usage) }),
  });
}
