import type { Reasoning } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../json/read.ts";
import { readBudget, readObject } from "../../request-body.ts";
import { isEffort } from "../../request-fields.ts";

const THINKING: readonly unknown[] = ["enabled", "adaptive", "disabled"] satisfies Reasoning["thinking"][];

/** Reads how much the model shall think. Words that nobody knows yet ask for nothing. */
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

function isThinking(value: unknown): value is NonNullable<Reasoning["thinking"]> {
  return THINKING.includes(value);
}
