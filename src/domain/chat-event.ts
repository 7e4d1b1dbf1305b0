import type { ServedTier } from "./tiers.ts";
import type { Usage } from "./usage.ts";

/** One step of an answer in the neutral form. A whole answer is read as a list of all its steps. */
export type ChatEvent = BeganEvent | TierEvent | OutputEvent | FinishEvent | UsageEvent;

/** The model began to work; output may follow or not. */
interface BeganEvent {
  readonly kind: "began";
}

/** The service tier that serves the answer. Replaces that of earlier events. */
interface TierEvent {
  readonly kind: "tier";
  readonly tier: ServedTier;
}

/** One piece of output of the model. */
export type OutputEvent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** Ends a piece of reasoning with the provider's signature of it. */
  | { readonly kind: "reasoning_signature"; readonly signature: string }
  /** Encrypted reasoning, which only its provider can decrypt. */
  | { readonly kind: "redacted_reasoning"; readonly data: string }
  | ToolCallEvent
  | ToolInputEvent;

/** Begins a tool call. `call` numbers the calls of an answer from 0 without gaps. */
export interface ToolCallEvent {
  readonly kind: "tool_call";
  readonly call: number;
  readonly id: string;
  readonly name: string;
}

/** A fragment of the JSON input of a call. The inputs of several calls may be interleaved. */
interface ToolInputEvent {
  readonly kind: "tool_input";
  readonly call: number;
  readonly json: string;
}

export interface FinishEvent {
  readonly kind: "finish";
  readonly reason: FinishReason;
  /** The stop sequence of the client that ended the answer, if the provider reports it. */
  readonly stopSequence: string | undefined;
}

/** Whether the answer was cut off, so that its last call may be incomplete. */
export function isCutOff({ reason }: FinishEvent): boolean {
  return reason === "length" || reason === "content_filter";
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** The usage so far. Replaces the usage of earlier events. */
export interface UsageEvent {
  readonly kind: "usage";
  readonly usage: Usage;
  /** The reasoning tokens within the output, if the provider reports them. */
  readonly reasoningTokens: number | undefined;
}

/** A whole answer in the neutral form, collected from its events. */
export interface ChatReply {
  /** In the order in which they began. There may be several of one kind. */
  readonly blocks: readonly ReplyBlock[];
  readonly finish: FinishEvent;
  /** `undefined` when the provider reported no usage. */
  readonly usage: UsageEvent | undefined;
}

export type ReplyBlock =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string; readonly signature: string | undefined }
  | { readonly kind: "redacted_reasoning"; readonly data: string }
  | ToolCallBlock;

export interface ToolCallBlock {
  readonly kind: "tool_call";
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it; may be "" for no arguments, or truncated. */
  readonly input: string;
}
