import type { UnitDemand } from "../../domain/units.ts";
import { type Form, type FormField, type FormFile, foldedName, readField, readFormFlag } from "../form.ts";
import { isJsonObject, type JsonObject, parseJsonObject, readText } from "../json/read.ts";
import type { RequestHead } from "../model-request.ts";
import { readUsage } from "../openai-responses/response.ts";
import type { ReplyPart, ReplyReader } from "../reply-part.ts";
import { reject, requireName } from "../request-body.ts";
import { readTypedStream } from "../typed-stream.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { createUntranslated, plainFacts, readsForms } from "./untranslated.ts";

/**
 * OpenAI's transcription of audio. Its request body is a form with a file.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
export const openaiTranscriptions = createUntranslated({
  surface: "transcriptions",
  path: "/v1/audio/transcriptions",
  upstreamPath: "/audio/transcriptions",
  form: { readForm, promptText, countsPlayTime: true },
  ...readsForms("transcription"),
  readStream,
  readWhole,
});

/**
 * OpenAI's transcription into English. The form and the answer are those of transcriptions, without streams.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createTranslation
 */
export const openaiTranslations = createUntranslated({
  surface: "translations",
  path: "/v1/audio/translations",
  upstreamPath: "/audio/translations",
  form: { readForm: readWholeForm, promptText, countsPlayTime: true },
  ...readsForms("translation"),
  readWhole,
});

const JSON_FORMATS: readonly string[] = ["json", "verbose_json", "diarized_json"];
const TEXT_FORMATS: readonly string[] = ["text", "srt", "vtt"];
const FORM_RULE = createUnpricedRule(new Set());
/** Fields that the gateway checks or edits. */
const FIELDS = new Set(["model", "file", "prompt", "response_format", "stream"]);
/** Eight channels of 192 kHz in samples of 32 bits. */
const BYTES_PER_SECOND_MAX = 6_144_000;
/** OpenAI's models make a token of every 100 ms. */
const TOKENS_PER_SECOND = 10;
/** Decoders differ by less than this share of the play time. */
const PLAY_TIME_TOLERANCE = 100;

/** Checks a transcription form. The upstream checks the other fields. */
function readForm(form: Form): RequestHead {
  const [file, ...others] = form.files;
  if (file?.field !== "file" || others.length > 0) reject("file");
  for (const field of form.fields) checkName(field);
  const model = requireName(readField(form, "model"), "model");
  if (file.bytes === 0) reject("file");
  const format = readField(form, "response_format") ?? "json";
  const answersText = TEXT_FORMATS.includes(format);
  if (!answersText && !JSON_FORMATS.includes(format)) reject("response_format");
  const stream = readFormFlag(form, "stream");
  return plainFacts({
    model,
    stream,
    input: {
      textBytes: Buffer.byteLength(promptText(form)),
      mediaBytes: file.bytes,
      images: 0,
      unbounded: true,
      serverTools: false,
      fileTokens: Math.ceil((file.seconds ?? 0) * TOKENS_PER_SECOND),
    },
    outputTokensBound: "model",
    answersText,
    units: demandOf(file),
  });
}

/** Checks a form whose answer is never streamed. */
function readWholeForm(form: Form): RequestHead {
  const facts = readForm(form);
  return facts.stream ? reject("stream") : facts;
}

/** Throws for a field that changes the price, and for another spelling of a field that is read here. */
function checkName({ name, value }: FormField): void {
  const folded = foldedName(name);
  if (FIELDS.has(folded) && folded !== name) reject(folded);
  FORM_RULE.reject({ [folded]: value }, false);
}

/** Returns the text that leads the transcript. */
function promptText(form: Form): string {
  return readField(form, "prompt") ?? "";
}

/** The play time of a file; before it is counted, the least that its bytes can play. */
function demandOf({ bytes, seconds }: FormFile): UnitDemand {
  if (seconds === undefined) return { name: "second", held: Math.ceil(bytes / BYTES_PER_SECOND_MAX) };
  const held = Math.ceil(seconds + seconds / PLAY_TIME_TOLERANCE) + 1;
  return { name: "second", held, usual: Math.ceil(seconds) };
}

const PLAIN_TEXT = "text/plain; charset=utf-8";

/**
 * Reads a transcript, as JSON or as plain text. The body passes through unchanged. An empty transcript is
 * readable in JSON: the audio is silent then. Throws {@link UpstreamFault} for JSON without a text.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/json-object
 */
function readWhole({ answersText }: RequestHead, text: string): ReplyPart {
  if (answersText) {
    const isReadable = text !== "";
    const part = { text, isOutput: isReadable, isReadable, generated: text, usage: undefined };
    return { ...part, contentType: PLAIN_TEXT };
  }
  const body = parseJsonObject(text);
  if (!body || typeof body.text !== "string") throw new UpstreamFault("The answer is not a transcript");
  return { text, isOutput: true, isReadable: true, generated: body.text, ...readTranscriptUsage(body) };
}

/**
 * Reads the tokens of a usage, and the seconds of a usage or of the transcript itself, rounded up.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/verbose-json-object
 */
function readTranscriptUsage({ usage, duration }: JsonObject): Pick<ReplyPart, "usage" | "units"> {
  const reported = isJsonObject(usage) ? usage.seconds : undefined;
  const seconds = reported ?? duration;
  // Some hosts print the duration as text.
  const count = readText(seconds) === "" ? seconds : Number(seconds);
  return {
    usage: readUsage(usage),
    units: typeof count === "number" ? { count: Math.ceil(count) } : undefined,
  };
}

const FINISH = "transcript.text.done";
const OUTPUTS: readonly unknown[] = ["transcript.text.delta", "transcript.text.segment"];

/**
 * Reads a streamed transcript: pieces of text, then one event with the whole text and the usage.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/transcript-text-delta-event
 */
function readStream(): ReplyReader {
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
