import type { Reasoning, ReasoningPart } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import { readBudget, readObject } from "../../request-body.ts";
import { isEffort } from "../../request-fields.ts";

const THINKING: readonly unknown[] = ["enabled", "adaptive", "disabled"] satisfies Reasoning["thinking"][];

/** Reads how much the model shall think. Unknown values of `thinking.type` and `effort` are ignored. */
export function readReasoning(body: JsonObject): Reasoning {
  const { type, display, budget_tokens: budget } = readObject(body, "thinking") ?? {};
  const { effort } = isJsonObject(body.output_config) ? body.output_config : {};
  const thinking = isThinking(type) ? type : undefined;
  return {
    effort: isEffort(effort) ? effort : undefined,
    thinking,
    budgetTokens: thinking === "enabled" ? readBudget(budget) || undefined : undefined,
    isShown: (thinking === "enabled" || thinking === "adaptive") && display !== "omitted",
  };
}

/** Reads a `thinking` block of an earlier answer. */
export function readThinking(block: JsonObject): readonly [ReasoningPart] {
  const signature = readText(block.signature) || undefined;
  return [{ kind: "reasoning", text: readText(block.thinking), signature, redacted: undefined }];
}

/** Reads a `redacted_thinking` block of an earlier answer. */
export function readRedactedThinking(block: JsonObject): readonly [ReasoningPart] {
  return [{ kind: "reasoning", text: "", signature: undefined, redacted: readText(block.data) }];
}

function isThinking(value: unknown): value is NonNullable<Reasoning["thinking"]> {
  return THINKING.includes(value);
}
