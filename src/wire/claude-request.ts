import type {
  CacheMark,
  ChatRequest,
  Effort,
  Part,
  Reasoning,
  TextPart,
  Tool,
} from "../domain/chat-request.ts";
import { BYTES_PER_TOKEN } from "../domain/usage.ts";
import type { Message } from "./arrange-messages.ts";
import type { PrintOptions } from "./format.ts";

/** A prompt in the order in which Anthropic reads and caches it: tools, system prompt, messages. */
interface Prompt {
  readonly tools: readonly Tool[];
  readonly system: readonly TextPart[];
  readonly messages: readonly Message[];
}

/** Length of the shortest prefix that a model caches, in tokens. Anthropic ignores marks of shorter ones. */
const TOKENS_MIN = 1_024;
const LONGER_MINIMA: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/opus-4[-.][5-7](?!\d)|haiku-4[-.]5/, 4_096],
  [/3([-.]5)?-haiku|haiku-3/, 2_048],
];
/** An image or document that is not text. A number too high is harmless: the provider ignores the mark. */
const MEDIA_TOKENS = 1_024;
const MARK: CacheMark = { ttl: undefined };

/**
 * Marks the ends of the prefixes that a later request is likely to repeat: tools, system prompt, the second to
 * last and the last user message. Each must be long enough for `model`; a single message is marked only where a
 * tool call will repeat it. At most 4 marks; a prompt with a mark of the client's own is returned unchanged.
 *
 * @see https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
export function markPrefixes(
  prompt: Prompt,
  { toolChoice, cache }: Pick<ChatRequest, "toolChoice" | "cache">,
  model: string,
): Prompt {
  if (cache || isMarked(prompt)) return prompt;
  const { tools, system, messages } = prompt;
  const min = minimumOf(model);
  const ofTools = sumOf(tools, tokensOfTool);
  const ofSystem = ofTools + sumOf(system, tokensOfPart);
  const ends = isLikelyRepeated(prompt, toolChoice) ? findEnds(messages) : [];
  let read = ofSystem;
  return {
    tools: ofTools >= min ? markLast(tools) : tools,
    system: ofSystem >= min ? markLast(system, canBeMarked) : system,
    messages: messages.map((message, position) => {
      read += sumOf(message.parts, tokensOfPart);
      return ends.includes(position) && read >= min
        ? { ...message, parts: markLast(message.parts, canBeMarked) }
        : message;
    }),
  };
}

function minimumOf(model: string): number {
  return LONGER_MINIMA.find(([name]) => name.test(model))?.[1] ?? TOKENS_MIN;
}

function isMarked({ tools, system, messages }: Prompt): boolean {
  return (
    tools.some(hasMark) || system.some(hasMark) || messages.some(({ parts }) => parts.some(isMarkedPart))
  );
}

function hasMark({ cache }: { readonly cache: CacheMark | undefined }): boolean {
  return cache !== undefined;
}

function isMarkedPart(part: Part): boolean {
  if (part.kind === "reasoning") return false;
  return hasMark(part) || (part.kind === "tool_result" && part.parts.some(hasMark));
}

/**
 * Whether the next request repeats these messages: a conversation goes on, and so does a tool loop. A forced
 * tool in the first message usually extracts data once.
 */
function isLikelyRepeated({ tools, messages }: Prompt, toolChoice: ChatRequest["toolChoice"]): boolean {
  if (messages.some(({ role }) => role === "assistant")) return true;
  return tools.length > 0 && (toolChoice === undefined || toolChoice.kind === "auto");
}

/**
 * Returns the positions of the last two user messages. The last request ended with the first of them: the
 * provider finds that prefix although it looks back only 20 blocks from the end.
 */
function findEnds(messages: readonly Message[]): readonly number[] {
  return messages.flatMap(({ role }, position) => (role === "user" ? [position] : [])).slice(-2);
}

/** Marks the last element that can carry a mark. */
function markLast<Element>(
  list: readonly Element[],
  canBe: (element: Element) => boolean = () => true,
): readonly Element[] {
  const at = list.findLastIndex(canBe);
  return list.map((element, position) => (position === at ? { ...element, cache: MARK } : element));
}

/** Anthropic refuses marks on reasoning and on empty texts. */
function canBeMarked(part: Part): boolean {
  return part.kind !== "reasoning" && (part.kind !== "text" || part.text !== "");
}

function sumOf<Element>(list: readonly Element[], tokensOf: (element: Element) => number): number {
  let sum = 0;
  for (const element of list) sum += tokensOf(element);
  return sum;
}

function tokensOfTool({ name, description = "", schema }: Tool): number {
  return tokensOfText(name) + tokensOfText(description) + tokensOfText(JSON.stringify(schema));
}

function tokensOfPart(part: Part): number {
  switch (part.kind) {
    case "tool_call":
      return tokensOfText(part.name) + tokensOfText(part.input);
    case "tool_result":
      return sumOf(part.parts, tokensOfPart);
    case "image":
      return MEDIA_TOKENS;
    case "document":
      return part.source.kind === "text" ? tokensOfText(part.source.text) : MEDIA_TOKENS;
    default:
      return tokensOfText(part.text);
  }
}

function tokensOfText(text: string): number {
  return Buffer.byteLength(text) / BYTES_PER_TOKEN;
}

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
