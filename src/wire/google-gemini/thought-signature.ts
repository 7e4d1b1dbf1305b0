import type { Part } from "../../domain/chat-request.ts";
import { createHostReasoningDecoder, encodeHostReasoning } from "../host-reasoning.ts";
import { shortenIdentifier } from "../identifiers.ts";
import type { JsonObject } from "../json/read.ts";

/** Longest id of a tool call, in characters. */
export const ID_CHARS_MAX = 64;

/** A signature of Gemini's thoughts, which the model expects back with its own answer. */
interface Signed {
  readonly signature: string;
  /** The id of the signed call; `undefined` for a signed text. */
  readonly callId: string | undefined;
}

/**
 * Encodes a signature as encrypted reasoning, which clients of every format send back.
 *
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function encodeSignature(origin: string, { signature, callId }: Signed): string {
  return encodeHostReasoning(origin, callId === undefined ? { signature } : { signature, callId });
}

/** The signatures that one message of the model has. */
export interface Signatures {
  readonly ofText: string | undefined;
  ofCall(id: string): string | undefined;
}

const NONE: Signatures = { ofText: undefined, ofCall: () => undefined };

/** Collects the signatures among the parts of a message. Drops those of other origins. */
export function readSignatures(parts: readonly Part[], origin: string | undefined): Signatures {
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  if (origin === undefined || reasoning.length === 0) return NONE;
  const decode = createHostReasoningDecoder(origin);
  const ofCalls = new Map<string, string>();
  let ofText: string | undefined;
  for (const { redacted, signature } of reasoning) {
    const signed = checkSigned(decode(redacted ?? signature ?? "") ?? {});
    if (signed?.callId !== undefined) ofCalls.set(signed.callId, signed.signature);
    else ofText = signed?.signature ?? ofText;
  }
  return { ofText, ofCall: (id) => ofCalls.get(id) };
}

/** Ids are compared in the form in which the request has them. */
function checkSigned({ signature, callId }: JsonObject): Signed | undefined {
  if (typeof signature !== "string" || signature === "") return undefined;
  if (callId === undefined) return { signature, callId };
  return typeof callId === "string"
    ? { signature, callId: shortenIdentifier(callId, ID_CHARS_MAX) }
    : undefined;
}
