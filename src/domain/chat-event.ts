import type { Usage } from "./usage.ts";

/** One step of an answer, in no provider's words. A whole answer is the same steps at once. */
export type ChatEvent = BeganEvent | OutputEvent | FinishEvent | UsageEvent;

/** Something began of which nothing has come yet, nor ever may: the model is at work. */
interface BeganEvent {
  readonly kind: "began";
}

/** Something that the model put out. */
export type OutputEvent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  /** Ends a piece of reasoning with its provider's signature over it. */
  | { readonly kind: "reasoning_seal"; readonly signature: string }
  /** Reasoning that only its provider can read. */
  | { readonly kind: "redacted_reasoning"; readonly data: string }
  | ToolCallEvent
  | ToolInputEvent;

/** Begins a tool call. Calls are numbered from 0 without gaps. */
export interface ToolCallEvent {
  readonly kind: "tool_call";
  readonly call: number;
  readonly id: string;
  readonly name: string;
}

/** A piece of a call's input, in JSON; inputs of several calls may come interleaved. */
interface ToolInputEvent {
  readonly kind: "tool_input";
  readonly call: number;
  readonly json: string;
}

export interface FinishEvent {
  readonly kind: "finish";
  readonly reason: FinishReason;
  /** Which of the client's stop sequences ended it, where the provider tells. */
  readonly stopSequence: string | undefined;
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** Usage so far: replaces what earlier ones said. */
export interface UsageEvent {
  readonly kind: "usage";
  readonly usage: Usage;
  /** How much of the output was reasoning, where the provider tells. */
  readonly reasoningTokens: number | undefined;
}

/** A whole answer in no provider's words: what its events come to. */
export interface ChatReply {
  /** In the order in which they began; of one kind there may be several. */
  readonly blocks: readonly ReplyBlock[];
  readonly finish: FinishEvent;
  /** `undefined` when the provider reported none. */
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
  /** JSON as the model wrote it: may be "" for no arguments, or cut short. */
  readonly input: string;
}
