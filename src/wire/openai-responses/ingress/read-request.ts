import type { ChatRequest, Tool } from "../../../domain/chat-request.ts";
import { readEndUser } from "../../end-user.ts";
import type { JsonObject } from "../../json/read.ts";
import { createValueBudget } from "../../json/value-budget.ts";
import { readNumber, refuse, SHARES, TEMPERATURES } from "../../request-body.ts";
import { requireItems } from "../items.ts";
import { readTurns } from "./read-messages.ts";
import { readFormat, readReasoning, refuseLogprobs } from "./read-options.ts";
import { readToolChoice } from "./read-tool-choice.ts";
import { readOffer } from "./read-tools.ts";

/** Reads a body in no provider's words. Throws `untranslatable`, naming what no other format can say, or `wrong_shape`. */
export function readChatRequest(body: JsonObject): ChatRequest {
  const budget = createValueBudget(body);
  const items = requireItems(body);
  refuseLogprobs(body);
  const offered = readOffer(body, items).map(({ tool }) => tool);
  return {
    turns: readTurns(body, items, budget),
    ...readToolUse(body, offered),
    reasoning: readReasoning(body),
    format: readFormat(body),
    stopSequences: [],
    temperature: readNumber(body, "temperature", TEMPERATURES),
    topP: readNumber(body, "top_p", SHARES),
    topK: undefined,
    endUser: readEndUser(body),
  };
}

/** Without tools nothing can be said of their use. */
function readToolUse(body: JsonObject, offered: readonly Tool[]) {
  const { tools, toolChoice } = readToolChoice(body, offered);
  if (tools.length === 0) return { tools, toolChoice: undefined, parallelToolCalls: undefined };
  return { tools, toolChoice, parallelToolCalls: readOptionalFlag(body, "parallel_tool_calls") };
}

function readOptionalFlag(body: JsonObject, field: string): boolean | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && typeof value !== "boolean") refuse(field);
  return value;
}
