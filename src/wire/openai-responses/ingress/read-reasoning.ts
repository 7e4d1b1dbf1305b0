import type { Reasoning, ReasoningPart } from "../../../domain/chat-request.ts";
import { isSet, type JsonObject } from "../../json/read.ts";
import { readObject, reject } from "../../request-body.ts";
import { isEffort } from "../../request-fields.ts";
import { decodeReasoning } from "../encrypted-reasoning.ts";

/** Reads how much the model shall reason, and whether the client wants a summary. */
export function readReasoning(body: JsonObject): Reasoning {
  const { effort, summary, generate_summary: oldSummary } = readObject(body, "reasoning") ?? {};
  if (isSet(effort) && !isEffort(effort)) reject("reasoning.effort");
  return {
    effort: isEffort(effort) ? effort : undefined,
    thinking: undefined,
    budgetTokens: undefined,
    isShown: isSet(summary ?? oldSummary),
  };
}

/**
 * Reads a `reasoning` item of an earlier answer. Drops one that the gateway did not encode: only its provider
 * reads it.
 */
export function readReasoningItem(item: JsonObject): readonly ReasoningPart[] {
  const reasoning = decodeReasoning(item.encrypted_content);
  return reasoning ? [reasoning] : [];
}
