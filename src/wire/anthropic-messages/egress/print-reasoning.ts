import type { ChatRequest, Effort, Reasoning } from "../../../domain/chat-request.ts";
import type { PrintOptions } from "../../codecs.ts";
import type { Message } from "./print-messages.ts";
import { isForced } from "./print-tools.ts";

/** How a model is told to think: members of the body, and of its `output_config`. */
export interface PrintedReasoning {
  readonly thinking: object | undefined;
  readonly effort: string | undefined;
  /** Whether the model will think, so that nothing may be said about its sampling. */
  readonly isThinking: boolean;
}

type Asked = Pick<PrintOptions, "outputTokensMax" | "traits">;

/** Share of the output limit that an effort is worth, where a model takes a budget. */
const SHARES: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const BUDGET_MIN = 1024;
const BUDGET_MAX = 128_000;
/** What thinking must leave of the output limit, or there is no answer. */
const ANSWER_TOKENS_MIN = 256;
const SILENT: PrintedReasoning = { thinking: undefined, effort: undefined, isThinking: false };

/** How the model shall think, as far as it can be told and the conversation allows it. */
export function printReasoning(
  request: ChatRequest,
  messages: readonly Message[],
  { outputTokensMax, traits }: Asked,
): PrintedReasoning {
  const { reasoning } = request;
  const isOff = reasoning.effort === "none" || reasoning.thinking === "disabled";
  const isAsked = reasoning.effort !== undefined || reasoning.thinking !== undefined;
  if (!isAsked || traits.reasoning === "none") return SILENT;
  if (isOff) return traits.reasoning === "adaptive" ? { ...SILENT, thinking: { type: "disabled" } } : SILENT;
  if (traits.reasoning === "budget") return printBudget(request, messages, outputTokensMax);
  const effort = effortOf(reasoning);
  if (traits.reasoning === "effort" || isForced(request)) return { ...SILENT, effort };
  const display = reasoning.isShown ? "summarized" : "omitted";
  return { thinking: { type: "adaptive", display }, effort, isThinking: true };
}

function printBudget(
  request: ChatRequest,
  messages: readonly Message[],
  outputTokensMax: number,
): PrintedReasoning {
  const budget = budgetOf(request.reasoning, outputTokensMax);
  if (budget === undefined || isForced(request) || goesOnUnthought(messages)) return SILENT;
  return { ...SILENT, thinking: { type: "enabled", budget_tokens: budget }, isThinking: true };
}

/** Anthropic's lowest is "low". */
function effortOf({ effort }: Reasoning): string | undefined {
  return effort === "minimal" ? "low" : effort;
}

/** The client's own budget, or one by its effort; `undefined` when the output limit has no room for any. */
function budgetOf({ effort, budgetTokens }: Reasoning, outputTokensMax: number): number | undefined {
  const share = SHARES[effort === undefined || effort === "none" ? "medium" : effort];
  const wanted = budgetTokens ?? Math.floor(outputTokensMax * share);
  const room = Math.min(outputTokensMax - ANSWER_TOKENS_MIN, BUDGET_MAX);
  return room < BUDGET_MIN ? undefined : Math.max(BUDGET_MIN, Math.min(wanted, room));
}

/** Whether the model goes on with an answer that did not begin with thinking: with a budget it must have. */
function goesOnUnthought(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role === "assistant") return true;
  const answered = last?.parts.some(({ kind }) => kind === "tool_result") ? messages.at(-2) : undefined;
  return answered?.role === "assistant" && answered.parts[0]?.kind !== "reasoning";
}
