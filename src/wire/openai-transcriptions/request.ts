import type { UnitDemand } from "../../domain/units.ts";
import { type Form, type FormField, type FormFile, readField } from "../form.ts";
import type { RequestFacts } from "../model-request.ts";
import { reject, requireName } from "../request-body.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { plainFacts } from "../untranslated.ts";

const JSON_FORMATS: readonly string[] = ["json", "verbose_json", "diarized_json"];
const TEXT_FORMATS: readonly string[] = ["text", "srt", "vtt"];
const UNPRICED_RULE = createUnpricedRule(new Set());
/** Fields that the gateway checks or edits. */
const FIELDS = new Set(["model", "file", "prompt", "response_format", "stream"]);
const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false };
/** Eight channels of 192 kHz in samples of 32 bits. */
const BYTES_PER_SECOND_MAX = 6_144_000;
/** OpenAI's models make a token of every 100 ms. */
const TOKENS_PER_SECOND = 10;
/** Decoders differ by less than this share of the play time. */
const PLAY_TIME_TOLERANCE = 100;

/**
 * Checks a transcription form. The upstream checks the other fields.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
export function readForm(form: Form): RequestFacts {
  const { file } = form;
  for (const field of form.fields) checkName(field);
  const model = requireName(readField(form, "model"), "model");
  if (file.bytes === 0) reject("file");
  const format = readField(form, "response_format") ?? "json";
  const answersText = TEXT_FORMATS.includes(format);
  if (!answersText && !JSON_FORMATS.includes(format)) reject("response_format");
  const stream = FLAGS[readField(form, "stream") ?? "false"] ?? reject("stream");
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

/** Throws for a field that changes the price, and for another spelling of a field that is read here. */
function checkName({ name, value }: FormField): void {
  const folded = name.toLowerCase();
  if (FIELDS.has(folded) && folded !== name) reject(folded);
  UNPRICED_RULE.reject({ [folded]: value }, false);
}

/** Returns the text that leads the transcript. */
export function promptText(form: Form): string {
  return readField(form, "prompt") ?? "";
}

/** The play time of a file; before it is counted, the least that its bytes can play. */
function demandOf({ bytes, seconds }: FormFile): UnitDemand {
  if (seconds === undefined) return { name: "second", held: Math.ceil(bytes / BYTES_PER_SECOND_MAX) };
  const held = Math.ceil(seconds + seconds / PLAY_TIME_TOLERANCE) + 1;
  return { name: "second", held, usual: Math.ceil(seconds) };
}
