import type { ChatRequest, Effort, Reasoning } from "../domain/chat-request.ts";
import type { Message } from "./arrange-messages.ts";
import type { PrintOptions } from "./codecs.ts";

/** Reasoning settings of a request to one of Anthropic's models: the `thinking` member, and the effort in `output_config`. */
export interface PrintedThinking {
  readonly thinking: object | undefined;
  readonly effort: string | undefined;
  /** Whether the model will think: sampling settings must then be left out. */
  readonly isThinking: boolean;
}

/** Share of the output limit that each effort becomes, for models that take a budget. */
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
/** Output tokens that a thinking budget leaves for the answer. */
const ANSWER_TOKENS_MIN = 256;
const NO_SETTINGS: PrintedThinking = { thinking: undefined, effort: undefined, isThinking: false };

/** Returns the reasoning settings, as far as the model has them and the conversation allows thinking. */
export function printThinking(
  request: ChatRequest,
  messages: readonly Message[],
  { outputTokensMax, traits }: Pick<PrintOptions, "outputTokensMax" | "traits">,
): PrintedThinking {
  const { reasoning } = request;
  const isOff = reasoning.effort === "none" || reasoning.thinking === "disabled";
  const isRequested = reasoning.effort !== undefined || reasoning.thinking !== undefined;
  if (!isRequested || traits.reasoning === "none") return NO_SETTINGS;
  if (isOff)
    return traits.reasoning === "adaptive" ? { ...NO_SETTINGS, thinking: { type: "disabled" } } : NO_SETTINGS;
  if (traits.reasoning === "budget") return printBudget(request, messages, outputTokensMax);
  const effort = effortOf(reasoning);
  if (traits.reasoning === "effort" || isForced(request)) return { ...NO_SETTINGS, effort };
  const display = reasoning.isShown ? "summarized" : "omitted";
  return { thinking: { type: "adaptive", display }, effort, isThinking: true };
}

function printBudget(
  request: ChatRequest,
  messages: readonly Message[],
  outputTokensMax: number,
): PrintedThinking {
  const budget = budgetOf(request.reasoning, outputTokensMax);
  if (budget === undefined || isForced(request) || continuesWithoutThinking(messages)) return NO_SETTINGS;
  return { ...NO_SETTINGS, thinking: { type: "enabled", budget_tokens: budget }, isThinking: true };
}

/** Maps "minimal" to "low", Anthropic's lowest effort. */
function effortOf({ effort }: Reasoning): string | undefined {
  return effort === "minimal" ? "low" : effort;
}

/**
 * Returns the client's budget or the effort's share, clamped; `undefined` when the output limit is too small.
 */
function budgetOf({ effort, budgetTokens }: Reasoning, outputTokensMax: number): number | undefined {
  const share = SHARES[effort === undefined || effort === "none" ? "medium" : effort];
  const wanted = budgetTokens ?? Math.floor(outputTokensMax * share);
  const max = Math.min(outputTokensMax - ANSWER_TOKENS_MIN, BUDGET_MAX);
  return max < BUDGET_MIN ? undefined : Math.max(BUDGET_MIN, Math.min(wanted, max));
}

/** Returns whether the model continues an answer without thinking. Anthropic then rejects a budget. */
function continuesWithoutThinking(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role === "assistant") return true;
  const answered = last?.parts.some(({ kind }) => kind === "tool_result") ? messages.at(-2) : undefined;
  return answered?.role === "assistant" && answered.parts[0]?.kind !== "reasoning";
}

/** Whether the tool choice forces the model to call a tool. */
function isForced({ tools, toolChoice }: ChatRequest): boolean {
  return tools.length > 0 && (toolChoice?.kind === "required" || toolChoice?.kind === "tool");
}
