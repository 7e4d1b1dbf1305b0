import type { ChatSurface } from "../../../src/domain/model.ts";
import { GatewayError } from "../../../src/errors.ts";
import type { CodecSession } from "../../../src/wire/format-pair.ts";
import { findFormatPair } from "../../../src/wire/format-pair.ts";
import { WIRES } from "../../../src/wire/registry.ts";
import type { ReplyPart } from "../../../src/wire/reply-part.ts";
import { createSseDecoder, type SseListener } from "../../../src/wire/sse.ts";
import { UpstreamFault } from "../../../src/wire/upstream-fault.ts";
import { drawOne } from "../../support/seeded-random.ts";
import { type AnswerRequest, answerOf } from "../cases/fuzz-answer.ts";
import { type CaseId, stepsOf } from "../cases/steps.ts";
import { readText } from "../read/read-answer.ts";
import { CHAT_REQUESTS } from "../seeds/chat-requests.ts";
import { EMBEDDINGS_REQUESTS } from "../seeds/embeddings-requests.ts";
import { GEMINI_REQUESTS } from "../seeds/gemini-requests.ts";
import { MESSAGES_REQUESTS } from "../seeds/messages-requests.ts";
import { RESPONSES_REQUESTS } from "../seeds/responses-requests.ts";
import { MODEL } from "../seeds/tools.ts";

const REQUESTS: Readonly<Record<ChatSurface | "gemini" | "embeddings", readonly object[]>> = {
  chat: CHAT_REQUESTS.slice(0, 4),
  messages: MESSAGES_REQUESTS,
  responses: RESPONSES_REQUESTS,
  gemini: GEMINI_REQUESTS.slice(0, 4).map((body) => ({ ...body, model: MODEL })),
  embeddings: EMBEDDINGS_REQUESTS,
};
const HEAD = { id: "0190aaaa", createdAtS: 1_790_000_000, inputTokens: 11 };
const FORMATS = ["chat", "messages", "responses", "gemini"] as const;

/**
 * Decodes the answer of a case in one format and encodes it for a client of another. Throws when a codec
 * throws anything but an `UpstreamFault`, or when a client could not read the result. Returns whether there
 * was output.
 */
export function readAndPass(id: CaseId): boolean {
  const { client, format, stream, draw } = scenarioOf(id);
  const wire = WIRES[client];
  const exchange = findFormatPair(wire, [format]);
  if (!exchange) return false;
  const request = wire.parseRequest(JSON.stringify({ ...drawOne(draw, REQUESTS[client]), stream }));
  const dialogue = unlessRefused(() => exchange.begin(request, request.readChat));
  if (!dialogue) return false;
  const { answer } = answerOf(id, answerRequestOf(id));
  const text = unlessFaulty(() => (stream ? readStream : readWhole)(dialogue, Buffer.from(answer.body)));
  if (text === undefined) return false;
  const { model, wantsUsage } = request;
  readText({ client, model, stream, choices: 1, wantsUsage, isPassthrough: dialogue.isPassthrough }, text);
  return true;
}

/** The upstream call of a case. */
export function answerRequestOf(id: CaseId): AnswerRequest {
  const { format, stream } = scenarioOf(id);
  return { format, stream, choices: 1, call: 0 };
}

function scenarioOf(id: CaseId) {
  const draw = stepsOf(id).draw("pure");
  if (draw() < 0.03) return { client: "embeddings", format: "embeddings", stream: false, draw } as const;
  return {
    client: drawOne(draw, FORMATS),
    format: drawOne(draw, FORMATS),
    stream: draw() < 0.7,
    draw,
  } as const;
}

function readWhole(dialogue: CodecSession, bytes: Buffer): string | undefined {
  const { text, isReadable, unrepresentable } = dialogue.readWhole(HEAD, bytes.toString());
  return isReadable && !unrepresentable ? text : undefined;
}

/** Mirrors the relay: faults after the finish are ignored, and unreadable output is not forwarded. */
function readStream(dialogue: CodecSession, bytes: Buffer): string | undefined {
  const reader = dialogue.readStream(HEAD);
  const decoder = createSseDecoder();
  let text = "";
  let isReadable = false;
  const take = (part: ReplyPart) => {
    text += part.text;
    isReadable ||= part.isReadable;
  };
  const listener: SseListener = {
    read: (event) => take(reader.read(event)),
    readText(decoded, start) {
      const part = reader.readRepeated?.(decoded, start);
      if (part) take(part);
      return part?.end ?? start;
    },
  };
  try {
    decoder.decode(bytes, listener);
    decoder.decode(undefined, listener);
  } catch (thrown) {
    if (!(reader.finished && thrown instanceof UpstreamFault)) throw thrown;
  }
  if (!reader.finished) throw new UpstreamFault("The answer ended without a finish");
  return isReadable ? text + reader.ending() : undefined;
}

function unlessRefused<Value>(begin: () => Value): Value | undefined {
  try {
    return begin();
  } catch (thrown) {
    if (thrown instanceof GatewayError) return undefined;
    throw thrown;
  }
}

function unlessFaulty<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof UpstreamFault) return undefined;
    throw thrown;
  }
}
