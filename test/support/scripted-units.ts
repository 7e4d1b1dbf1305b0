import { type Answer, answer, type Script, type ScriptRequest } from "./script.ts";
import { EVENT_STREAM } from "./scripted-answers.ts";
import { fieldOf } from "./scripted-upstream.ts";

/** What a provider requires of a request; a request that breaks it is refused with 400. */
interface Required {
  readonly path: string;
  readonly members?: readonly string[];
  /** A form instead of JSON, with files of these fields. */
  readonly files?: RegExp;
}

/** Returns a script that answers requests of one route, as strictly as the provider documents it. */
function strictly(required: Required, given: (request: ScriptRequest) => Answer): Script {
  return (request) =>
    answer(isAccepted(request, required) ? given(request) : { status: 400, body: "{}" })(request);
}

function isAccepted(request: ScriptRequest, { path, members = [], files }: Required): boolean {
  const { method, target, headers, bodyText } = request;
  if (method !== "POST" || target !== path || headers.authorization !== "Bearer provider-secret")
    return false;
  const type = headers["content-type"] ?? "";
  if (files) return isFormAccepted(type, bodyText, files) && members.every((name) => fieldOf(bodyText, name));
  if (type !== "application/json") return false;
  const body: unknown = JSON.parse(bodyText);
  return typeof body === "object" && body !== null && members.every((name) => name in body);
}

/** One part for the model, some for files, and an end, all with the boundary of the header. */
function isFormAccepted(type: string, bodyText: string, files: RegExp): boolean {
  const boundary = /^multipart\/form-data; boundary=([\w-]{1,70})$/.exec(type)?.[1];
  return (
    boundary !== undefined &&
    bodyText.startsWith(`--${boundary}\r\n`) &&
    bodyText.endsWith(`\r\n--${boundary}--\r\n`) &&
    bodyText.split('name="model"').length === 2 &&
    [...bodyText.matchAll(/name="([^"]*)"; filename="[^"]+"\r\ncontent-type: \S+\r\n/g)].every(
      ([, name = ""]) => files.test(name),
    )
  );
}

/** Ranks documents as Cohere does; `searches: undefined` leaves the billed units out. */
export function answerRerank(searches?: number, more: object = {}): Script {
  const meta =
    searches === undefined
      ? undefined
      : { api_version: { version: "2" }, billed_units: { search_units: searches } };
  const results = [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.1 },
  ];
  const required = { path: "/v1/rerank", members: ["model", "query", "documents"] };
  return strictly(required, () => ({ body: JSON.stringify({ id: "r-1", results, meta, ...more }) }));
}

/** Judges one text as harmless. */
export function answerModeration(more: object = {}): Script {
  const results = [{ flagged: false, categories: { violence: false }, category_scores: { violence: 0.01 } }];
  const required = { path: "/v1/moderations", members: ["model", "input"] };
  return strictly(required, ({ model }) => ({
    body: JSON.stringify({ id: "modr-1", model, results, ...more }),
  }));
}

/** Sends this number of images. */
export function answerImages(count: number, more: object = {}): Script {
  const data = Array.from({ length: count }, () => ({ b64_json: "aW1hZ2U=" }));
  const required = { path: "/v1/images/generations", members: ["model", "prompt"] };
  return strictly(required, () => ({ body: JSON.stringify({ created: 1_790_000_000, data, ...more }) }));
}

/** One partial image, as OpenAI sends it. */
export function partialImage(index: number, more: object = {}): object {
  const type = "image_generation.partial_image";
  return { type, created_at: 1_790_000_000, partial_image_index: index, b64_json: "cGFydA==", ...more };
}

/** One completed image. */
export function completedImage(outputTokens?: number, more: object = {}): object {
  const details = { text_tokens: 10, image_tokens: 0 };
  const usage = outputTokens !== undefined && {
    input_tokens: 10,
    input_tokens_details: details,
    output_tokens: outputTokens,
    total_tokens: 10 + outputTokens,
  };
  const type = "image_generation.completed";
  return { type, created_at: 1_790_000_000, b64_json: "aW1hZ2U=", ...(usage && { usage }), ...more };
}

/** Streams images as named events. */
export function streamImages(events: readonly object[], how: Omit<Answer, "body"> = {}): Script {
  const required = { path: "/v1/images/generations", members: ["model", "prompt", "stream"] };
  const body = events.map(
    (event) => `event: ${"type" in event ? event.type : "error"}\n${printEvent(event)}`,
  );
  return strictly(required, () => ({ headers: EVENT_STREAM, ...how, body: body.join("") }));
}

/** Sends an audio file in pieces. */
export function answerSpeech(bytes: Uint8Array, how: Omit<Answer, "body"> = {}): Script {
  const required = { path: "/v1/audio/speech", members: ["model", "input", "voice"] };
  const headers = { "content-type": "audio/mpeg" };
  return strictly(required, () => ({ framing: "chunked", headers, ...how, body: bytes }));
}

/** Streams speech as events. */
export function answerSpeechEvents(usage?: object): Script {
  const required = { path: "/v1/audio/speech", members: ["model", "input", "voice"] };
  const events = [
    { type: "speech.audio.delta", audio: "c291bmQ=" },
    { type: "speech.audio.delta", audio: "bW9yZQ==" },
    { type: "speech.audio.done", usage },
  ];
  return strictly(required, () => ({ headers: EVENT_STREAM, body: events.map(printEvent).join("") }));
}

/** Transcribes a file in the format that the request asks for. */
export function answerTranscript(more: object = {}, how: Omit<Answer, "body"> = {}): Script {
  return strictly({ path: "/v1/audio/transcriptions", files: /^file$/ }, ({ bodyText }) => {
    if (fieldOf(bodyText, "stream") === "true") {
      const events = [
        { type: "transcript.text.delta", delta: "Good " },
        { type: "transcript.text.delta", delta: "morning." },
        { type: "transcript.text.done", text: "Good morning.", ...more },
      ];
      return { headers: EVENT_STREAM, ...how, body: events.map(printEvent).join("") };
    }
    if (fieldOf(bodyText, "response_format") === "srt") {
      const headers = { "content-type": "text/plain; charset=utf-8" };
      return { headers, ...how, body: "1\n00:00:00,000 --> 00:00:07,000\nGood morning.\n" };
    }
    return { ...how, body: JSON.stringify({ text: "Good morning.", ...more }) };
  });
}

/** Sends this number of images as an edit of others, whole or streamed as the request asks. */
export function answerEdits(count: number, more: object = {}): Script {
  const required = { path: "/v1/images/edits", members: ["prompt"], files: /^(image(\[\])?|mask)$/ };
  return strictly(required, ({ bodyText }) => {
    const data = Array.from({ length: count }, () => ({ b64_json: "aW1hZ2U=" }));
    if (fieldOf(bodyText, "stream") !== "true")
      return { body: JSON.stringify({ created: 1_790_000_000, data, ...more }) };
    const events = [
      partialImage(0, { type: "image_edit.partial_image" }),
      ...data.map(() => completedImage(100, { type: "image_edit.completed" })),
    ];
    return { headers: EVENT_STREAM, body: events.map(printEvent).join("") };
  });
}

/** Sends one variation of an image. */
export function answerVariation(): Script {
  const body = JSON.stringify({ created: 1_790_000_000, data: [{ url: "https://images.example/1.png" }] });
  return strictly({ path: "/v1/images/variations", files: /^image$/ }, () => ({ body }));
}

/** Transcribes a file into English. */
export function answerTranslation(): Script {
  const body = JSON.stringify({ text: "Good morning." });
  return strictly({ path: "/v1/audio/translations", files: /^file$/ }, () => ({ body }));
}

function printEvent(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
