import type { ChatRequest, Effort, Part } from "../../domain/chat-request.ts";
import type { PrintOptions } from "../format.ts";
import { createHostReasoningDecoder, encodeHostReasoning } from "../host-reasoning.ts";
import { shortenIdentifier } from "../identifiers.ts";
import type { JsonObject } from "../json/read.ts";
import { effortOfBudget } from "../request-fields.ts";

/** Longest id of a tool call, in characters. */
export const ID_CHARS_MAX = 64;

/** A signature of Gemini's thoughts, which the model expects back with its own answer. */
interface Signed {
  readonly signature: string;
  /** The id of the signed call; `undefined` for a signed text. */
  readonly callId: string | undefined;
}

/**
 * Encodes a signature as encrypted reasoning, which clients of every format send back.
 *
 * @see https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function encodeSignature(origin: string, { signature, callId }: Signed): string {
  return encodeHostReasoning(origin, callId === undefined ? { signature } : { signature, callId });
}

/** The signatures that one message of the model has. */
export interface Signatures {
  readonly ofText: string | undefined;
  ofCall(id: string): string | undefined;
}

const NONE: Signatures = { ofText: undefined, ofCall: () => undefined };

/** Collects the signatures among the parts of a message. Drops those of other origins. */
export function readSignatures(parts: readonly Part[], origin: string | undefined): Signatures {
  const reasoning = parts.filter((part) => part.kind === "reasoning");
  if (origin === undefined || reasoning.length === 0) return NONE;
  const decode = createHostReasoningDecoder(origin);
  const ofCalls = new Map<string, string>();
  let ofText: string | undefined;
  for (const { redacted, signature } of reasoning) {
    const signed = checkSigned(decode(redacted ?? signature ?? "") ?? {});
    if (signed?.callId !== undefined) ofCalls.set(signed.callId, signed.signature);
    else ofText = signed?.signature ?? ofText;
  }
  return { ofText, ofCall: (id) => ofCalls.get(id) };
}

/** Ids are compared in the form in which the request has them. */
function checkSigned({ signature, callId }: JsonObject): Signed | undefined {
  if (typeof signature !== "string" || signature === "") return undefined;
  if (callId === undefined) return { signature, callId };
  return typeof callId === "string"
    ? { signature, callId: shortenIdentifier(callId, ID_CHARS_MAX) }
    : undefined;
}

type ThinkingOptions = Pick<PrintOptions, "model" | "traits" | "outputTokensMax">;

/** Models before Gemini 3. They take a budget in tokens instead of a level. */
const OLDER_MODEL = /gemini-(?:1|2)(?:\.\d)?(?!\d)/;

/** Returns whether a model takes a thinking budget: Gemini 2.5, or one configured with `budget`. */
export function takesBudget({ model, traits }: Pick<ThinkingOptions, "model" | "traits">): boolean {
  return traits.reasoning === "budget" || OLDER_MODEL.test(model);
}

/**
 * Prints the thinking configuration, as far as the model has one and the client asked for it.
 *
 * @see https://ai.google.dev/gemini-api/docs/thinking
 */
export function printThinking({ reasoning }: ChatRequest, options: ThinkingOptions): object | undefined {
  const { effort, thinking, budgetTokens, isShown } = reasoning;
  if (options.traits.reasoning === "none") return undefined;
  if (effort === undefined && thinking === undefined) return undefined;
  const isOff = effort === "none" || thinking === "disabled";
  const wanted = isOff ? "none" : effort;
  const amount = takesBudget(options)
    ? { thinkingBudget: budgetOf(wanted, isOff ? undefined : budgetTokens, options) }
    : { thinkingLevel: levelOf(wanted ?? effortOfBudget(budgetTokens), options.model) };
  return isShown && !isOff ? { ...amount, includeThoughts: true } : amount;
}

/** Tokens by effort, as Google's own OpenAI-compatible API maps them. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};
/** Lets the model choose. */
const DYNAMIC_BUDGET = -1;
/** Output tokens that a thinking budget leaves for the answer: both count towards the output limit. */
const ANSWER_TOKENS_MIN = 256;

/** Clamps the client's budget, or that of the effort, to the model's range and below the output limit. */
function budgetOf(
  effort: Effort | undefined,
  budgetTokens: number | undefined,
  { model, outputTokensMax }: ThinkingOptions,
): number {
  const wanted = budgetTokens ?? (effort && BUDGETS[effort]);
  if (wanted === undefined) return DYNAMIC_BUDGET;
  const max = Math.min(outputTokensMax - ANSWER_TOKENS_MIN, isPro(model) ? 32_768 : 24_576);
  // Gemini 2.5 Pro always thinks. Flash-Lite thinks with 512 tokens or not at all.
  if (isPro(model)) return Math.max(128, Math.min(wanted, max));
  const budget = Math.max(0, Math.min(wanted, max));
  return /flash-lite/.test(model) && budget < 512 ? 0 : budget;
}

/** Returns the level of an effort; `undefined` leaves it to the model. Pro models have no level below LOW. */
function levelOf(effort: Effort | undefined, model: string): string | undefined {
  switch (effort) {
    case undefined:
      return undefined;
    case "none":
    case "minimal":
      return isPro(model) ? "LOW" : "MINIMAL";
    case "low":
      return "LOW";
    case "medium":
      return /gemini-3-pro/.test(model) ? "HIGH" : "MEDIUM";
    default:
      return "HIGH";
  }
}

function isPro(model: string): boolean {
  return /-pro(?![a-z])/.test(model);
}
