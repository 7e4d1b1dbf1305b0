import type { ReasoningPart } from "../../domain/chat-request.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../json/read.ts";
import { textOfPart } from "./content.ts";

/** A piece of reasoning, or its encrypted form in place of it. */
export type ReasoningDetail = Omit<ReasoningPart, "kind">;

/** The form that seals of Anthropic's models have; those of other providers are of no use elsewhere. */
const SEALED_FORMAT = "anthropic-claude-v1";

/** Reads the `reasoning_details` of an earlier answer that come back: pieces of one block, as they were streamed, are put together. */
export function joinReasoningDetails(details: unknown): readonly ReasoningPart[] {
  const blocks: ReasoningPart[] = [];
  let latestIndex: unknown;
  for (const detail of readArray(details).filter(isJsonObject)) {
    const part: ReasoningPart = { kind: "reasoning", ...readDetail(detail) };
    const last = blocks.at(-1);
    const isOpen = last && last.signature === undefined && last.redacted === undefined;
    const goesOn = isOpen && part.redacted === undefined && detail.index === latestIndex;
    if (goesOn) blocks[blocks.length - 1] = { ...part, text: last.text + part.text };
    else blocks.push(part);
    latestIndex = detail.index;
  }
  return blocks.filter(isFilledDetail);
}

/** One entry of `reasoning_details`, for what is sealed or encrypted. */
export function printReasoningDetail(detail: ReasoningDetail, index: number): object {
  const { text, signature, redacted } = detail;
  if (redacted !== undefined) {
    return { type: "reasoning.encrypted", data: redacted, format: SEALED_FORMAT, index };
  }
  return { type: "reasoning.text", text, signature, format: SEALED_FORMAT, index };
}

/** Whether a detail has a seal that Anthropic reads; one that does not say whose it is has. */
export function isAnthropicFormat({ format }: JsonObject): boolean {
  return !isSet(format) || readText(format).startsWith("anthropic");
}

/** One entry of `reasoning_details`, the way hosts found to say reasoning together with its signature. */
export function readDetail(detail: JsonObject): ReasoningDetail {
  const isOurs = isAnthropicFormat(detail);
  const sealOf = (value: unknown) => (isOurs ? readText(value) : "") || undefined;
  if (detail.type === "reasoning.encrypted") {
    return { text: "", signature: undefined, redacted: sealOf(detail.data) };
  }
  return { text: textOfPart(detail), signature: sealOf(detail.signature), redacted: undefined };
}

export function isFilledDetail({ text, signature, redacted }: ReasoningDetail): boolean {
  return text !== "" || signature !== undefined || redacted !== undefined;
}
