import type { Effort, Reasoning } from "../../../domain/chat-request.ts";
import { isEffort } from "../../effort.ts";
import { isSet, type JsonObject } from "../../json/read.ts";
import { readBudget, readObject, refuse } from "../../request-body.ts";

/** How much to reason: OpenAI's effort, or `reasoning` and `thinking` as hosts have them. */
export function readReasoning(body: JsonObject): Reasoning {
  const reasoning = readObject(body, "reasoning") ?? {};
  const thinking = readObject(body, "thinking") ?? {};
  const budget = readBudget(thinking.budget_tokens) || readBudget(reasoning.max_tokens);
  const way = wayOf(reasoning, thinking);
  return {
    effort:
      readEffort(body.reasoning_effort, "reasoning_effort") ??
      readEffort(reasoning.effort, "reasoning.effort"),
    thinking: budget > 0 && way !== "disabled" ? "enabled" : way,
    budgetTokens: budget > 0 && way !== "disabled" ? budget : undefined,
    isShown: reasoning.exclude !== true,
  };
}

/** Whoever switches it on without a budget leaves that to the model. */
function wayOf(reasoning: JsonObject, thinking: JsonObject): Reasoning["thinking"] {
  if (thinking.type === "disabled" || reasoning.enabled === false) return "disabled";
  return isSet(thinking.type) || reasoning.enabled === true ? "adaptive" : undefined;
}

function readEffort(value: unknown, path: string): Effort | undefined {
  if (!isSet(value)) return undefined;
  return isEffort(value) ? value : refuse(path);
}
