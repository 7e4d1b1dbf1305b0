import type { ReasoningPart } from "../../domain/chat-request.ts";
import type { Source } from "../format.ts";
import { createHostReasoningDecoder, encodeHostReasoning, isHostReasoning } from "../host-reasoning.ts";
import type { JsonObject } from "../json/read.ts";

// Reasoning that Converse expects back. A signature of Claude is valid at every host of Claude and stays as it
// is. Other signatures and encrypted reasoning are encoded for the upstream and model that they came from.

/** Returns the signature of reasoning as clients keep it. */
export function keepSignature(signature: string, source: Source | undefined): string {
  if (source === undefined || source.isClaude) return signature;
  return encodeHostReasoning(source.origin, { signature });
}

/** Returns encrypted reasoning, in base64, as clients keep it; `undefined` where no host could take it back. */
export function keepRedacted(redactedContent: string, source: Source | undefined): string | undefined {
  return source && encodeHostReasoning(source.origin, { redactedContent });
}

/** Returns the `reasoningContent` of reasoning that a client sent back; `undefined` if the host cannot read it. */
export type PrintReasoning = (part: ReasoningPart) => object | undefined;

/** Creates the printer for one upstream model. Without an origin, only Claude's own signatures are sent. */
export function createReasoningPrinter(origin: string | undefined, isClaude: boolean): PrintReasoning {
  const decode = origin === undefined ? () => undefined : createHostReasoningDecoder(origin);
  return ({ text, signature = "", redacted }) => {
    const kept = redacted ?? signature;
    if (isHostReasoning(kept)) return printDecoded(text, decode(kept));
    const isNative = isClaude && redacted === undefined && signature !== "";
    return isNative ? { reasoningText: { text, signature } } : undefined;
  };
}

function printDecoded(text: string, { signature, redactedContent }: JsonObject = {}): object | undefined {
  if (typeof redactedContent === "string") return { redactedContent };
  return typeof signature === "string" ? { reasoningText: { text, signature } } : undefined;
}
