import type { Answer } from "../../support/script.ts";
import { EVENT_STREAM } from "../../support/scripted-answers.ts";
import { drawInteger, drawOne, type RandomSource } from "../../support/seeded-random.ts";
import { CHAT_ANSWER_SNIPPETS, CHAT_STREAMS, CHAT_WHOLES } from "../seeds/chat-answers.ts";
import { GEMINI_ANSWER_SNIPPETS, GEMINI_STREAMS, GEMINI_WHOLES } from "../seeds/gemini-answers.ts";
import { MESSAGES_ANSWER_SNIPPETS, MESSAGES_STREAMS, MESSAGES_WHOLES } from "../seeds/messages-answers.ts";
import {
  EMBEDDINGS_WHOLES,
  RESPONSES_ANSWER_SNIPPETS,
  RESPONSES_STREAMS,
  RESPONSES_WHOLES,
} from "../seeds/responses-answers.ts";
import { deepen } from "./hostile-values.ts";
import { mutateJson, type Snippets } from "./mutate-json.ts";
import { CANARY, frameStream, mutateFrames, mutateStream } from "./mutate-stream.ts";
import { mutateBytes } from "./mutate-text.ts";
import { type CaseId, type Steps, stepsOf } from "./steps.ts";

/** The format of an upstream call. */
export type UpstreamFormat = "chat" | "messages" | "responses" | "gemini" | "embeddings" | "count_tokens";

/** The part of an upstream call on which its answer depends. */
export interface AnswerRequest {
  readonly format: UpstreamFormat;
  readonly stream: boolean;
  readonly choices: number;
  /** The index of the call within its case. */
  readonly call: number;
}

/** An answer and the mutations that produced it. */
export interface FuzzAnswer {
  readonly answer: Answer;
  /** A piece that is sent again and again after the body, if any. */
  readonly endless: string | undefined;
  readonly steps: readonly string[];
}

interface Repertoire {
  readonly streams: readonly (readonly object[])[];
  readonly wholes: readonly object[];
  readonly snippets: Snippets;
}

const CHAT = { streams: CHAT_STREAMS, wholes: CHAT_WHOLES, snippets: CHAT_ANSWER_SNIPPETS };
const MESSAGES = { streams: MESSAGES_STREAMS, wholes: MESSAGES_WHOLES, snippets: MESSAGES_ANSWER_SNIPPETS };
const RESPONSES = {
  streams: RESPONSES_STREAMS,
  wholes: RESPONSES_WHOLES,
  snippets: RESPONSES_ANSWER_SNIPPETS,
};
const REPERTOIRES: Readonly<Record<UpstreamFormat, Repertoire>> = {
  chat: CHAT,
  messages: MESSAGES,
  responses: RESPONSES,
  gemini: { streams: GEMINI_STREAMS, wholes: GEMINI_WHOLES, snippets: GEMINI_ANSWER_SNIPPETS },
  embeddings: { streams: CHAT_STREAMS, wholes: EMBEDDINGS_WHOLES, snippets: [[1], "AAAA", null] },
  count_tokens: { ...MESSAGES, wholes: [{ input_tokens: 17 }] },
};

/** Returns the answer of an upstream to a call of a case. */
export function answerOf(id: CaseId, asked: AnswerRequest): FuzzAnswer {
  const name = `answer ${asked.call}`;
  const steps = stepsOf(id);
  const draw = steps.draw(name);
  const chance = draw();
  if (chance < 0.05) return { answer: drawRefusal(draw), endless: undefined, steps: [] };
  // An answer of another format, or whole instead of streamed.
  const isStray = chance < 0.08;
  const format = isStray ? drawOne(draw, ["chat", "messages", "responses", "gemini"] as const) : asked.format;
  const stream = isStray ? draw() < 0.5 : asked.stream;
  const given = { ...asked, format };
  const body = (stream ? streamedBody : wholeBody)(name, given, steps);
  const headers = { ...(stream && EVENT_STREAM), "x-host": CANARY };
  const delivery = drawDelivery(draw, stream);
  const endless = delivery.end === "hang" && stream && draw() < 0.7 ? drawOne(draw, ENDLESS) : undefined;
  return { answer: { headers, body, ...delivery }, endless, steps: steps.made };
}

const ENDLESS = [": ping\n\n", 'event: ping\ndata: {"type":"ping"}\n\n', 'data: {"choices":[]}\n\n'];

function wholeBody(name: string, { format, choices }: AnswerRequest, steps: Steps): Buffer {
  const draw = steps.draw(`${name} whole`);
  const { wholes, snippets } = REPERTOIRES[format];
  let body: unknown = withChoices(structuredClone(drawOne(draw, wholes)), choices);
  // Vectors are not parsed by the gateway, so that invalid JSON in them would reach the client.
  const inBytes = format !== "embeddings" && draw() < 0.05 ? 1 : 0;
  steps.repeat(`${name} mutation`, drawMutations(draw), (each) => {
    body = mutateJson(each, body, snippets);
  });
  return inBytesOf(name, steps, { text: deepen(draw, JSON.stringify(body) ?? ""), times: inBytes });
}

function streamedBody(name: string, { format, choices }: AnswerRequest, steps: Steps): Buffer {
  const draw = steps.draw(`${name} stream`);
  const { streams, snippets } = REPERTOIRES[format];
  const events: unknown[] = structuredClone([...drawOne(draw, streams)]).map((event) =>
    withChoices(event, choices),
  );
  const [inFrames, inBytes] = [draw() < 0.15 ? drawInteger(draw, 1, 2) : 0, draw() < 0.05 ? 1 : 0];
  steps.repeat(`${name} mutation`, drawMutations(draw), (each) => mutateStream(each, events, snippets));
  let text = frameStream(draw, format, events);
  steps.repeat(`${name} frames`, inFrames, (each) => {
    text = mutateFrames(each, text);
  });
  return inBytesOf(name, steps, { text, times: inBytes });
}

function inBytesOf(name: string, steps: Steps, { text, times }: { text: string; times: number }): Buffer {
  let bytes: Buffer = Buffer.from(text);
  steps.repeat(`${name} bytes`, times, (draw) => {
    bytes = mutateBytes(draw, bytes);
  });
  return bytes;
}

/** Repeats the first choice as often as the request asks. */
function withChoices(body: object, choices: number): object {
  const name = "candidates" in body ? "candidates" : "choices";
  const list: unknown = Object(body)[name];
  if (choices === 1 || !Array.isArray(list) || list[0] === undefined) return body;
  return { ...body, [name]: Array.from({ length: choices }, (_, index) => ({ ...list[0], index })) };
}

function drawMutations(draw: RandomSource): number {
  return draw() < 0.3 ? 0 : drawInteger(draw, 1, draw() < 0.2 ? 8 : 3);
}

function drawDelivery(draw: RandomSource, stream: boolean): Omit<Answer, "body"> {
  const chance = draw();
  const pieces = stream && draw() < 0.4 ? { pieces: [drawInteger(draw, 1, 400)] } : {};
  const cut = { cutAt: drawInteger(draw, 0, 2_000) };
  if (chance < 0.86) return pieces;
  if (chance < 0.92) return { ...pieces, ...cut, lingerMs: 0, end: drawOne(draw, ["close", "reset"]) };
  if (chance < 0.97) return { ...pieces, framing: "until_close", lingerMs: 0, ...(draw() < 0.5 && cut) };
  if (chance < 0.99) return { ...pieces, gzip: true };
  if (chance < 0.997)
    return { claimedLength: drawInteger(draw, 0, 3_000), framing: "length", end: "close", lingerMs: 0 };
  return { ...pieces, ...cut, end: "hang" };
}

function drawRefusal(draw: RandomSource): Answer {
  const status = drawOne(
    draw,
    [400, 400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529, 302, 204, 299],
  );
  const body = drawOne(draw, [
    `{"error":{"message":"${CANARY}","type":"x","code":"y"}}`,
    `{"error":{"message":"This model's maximum context length is 10 tokens. However, your messages resulted in 4,321 tokens. ${CANARY}"}}`,
    `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`,
    `<html>${CANARY}</html>`,
    "",
  ]);
  const retryAfter = drawOne(draw, ["1", "0", "-1", "9999999", "Wed, 21 Oct 2015 07:28:00 GMT", CANARY]);
  return { status, body, headers: { "retry-after": retryAfter, "x-host": CANARY } };
}
