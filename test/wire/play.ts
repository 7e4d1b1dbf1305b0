import type { Surface } from "../../src/domain/model.ts";
import { GatewayError } from "../../src/errors.ts";
import type { ReplyHead, WireFormat } from "../../src/wire/format.ts";
import { type CodecSession, findFormatPair } from "../../src/wire/format-pair.ts";
import type { ModelRequest } from "../../src/wire/model-request.ts";
import type { ReplyPart } from "../../src/wire/reply-part.ts";
import { createSseDecoder, type SseEvent } from "../../src/wire/sse.ts";

/** Parses a request of the given format. */
export function requestOf(wire: WireFormat, members: object = {}): ModelRequest {
  const body = { model: "asked", messages: [{ role: "user", content: "hi" }], max_tokens: 100, stream: true };
  return wire.parseRequest(JSON.stringify({ ...body, ...members }));
}

/** Returns the head of a translated answer to a request. */
export function headOf(request: ModelRequest, more: Partial<ReplyHead> = {}): ReplyHead {
  const { isShown } = request.readChat().reasoning;
  const echoed = request.readEchoedFields?.();
  return { request, id: "abc", createdAtS: 7, inputTokens: 1, isReasoningShown: isShown, echoed, ...more };
}

/** Starts the codec session of a request for an upstream of one format. Throws `GatewayError`. */
export function codecSessionOf(wire: WireFormat, surface: Surface, request: ModelRequest): CodecSession {
  const session = findFormatPair(wire, [surface])?.begin(request, request.readChat);
  if (!session) throw new Error(`No format pair from ${wire.surface} to ${surface}`);
  return session;
}

/** Returns the error that rejects a body. Fails if the body is accepted or another error is thrown. */
export function errorOf(wire: WireFormat, body: string | object): GatewayError {
  try {
    wire.parseRequest(typeof body === "string" ? body : JSON.stringify(body));
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("The body was accepted");
}

/** Everything that a client and the gateway read from one streamed answer. */
export interface Played {
  readonly parts: readonly ReplyPart[];
  /** The text sent before the settlement. */
  readonly early: string;
  readonly ending: string;
  readonly generated: string;
  readonly usage: ReplyPart["usage"];
  readonly isReadable: boolean;
  readonly isOutput: boolean;
  readonly finished: boolean;
  readonly done: boolean;
}

/** Plays a stream through a reader in the given chunks. Throws the reader's errors. */
export function play(
  wire: WireFormat,
  request: ModelRequest,
  chunks: string | readonly Uint8Array[],
): Played {
  const reader = wire.readStream(request);
  const decoder = createSseDecoder();
  const pieces = typeof chunks === "string" ? [new TextEncoder().encode(chunks)] : chunks;
  const parts: ReplyPart[] = [];
  for (const piece of pieces) parts.push(...decoder.push(piece).map((event) => reader.read(event)));
  parts.push(...decoder.end().map((event) => reader.read(event)));
  return {
    parts,
    early: parts.map((part) => part.text).join(""),
    ending: reader.finished ? reader.ending() : "",
    generated: parts.map((part) => part.generated).join(""),
    usage: parts.findLast((part) => part.usage !== undefined)?.usage,
    isReadable: parts.some((part) => part.isReadable),
    isOutput: parts.some((part) => part.isOutput),
    finished: reader.finished,
    done: reader.done,
  };
}

/** Decodes the events of a text. */
export function eventsOf(text: string): SseEvent[] {
  const decoder = createSseDecoder();
  return decoder.push(new TextEncoder().encode(text));
}
