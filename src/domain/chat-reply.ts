import type { FinishEvent, UsageEvent } from "./chat-event.ts";

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
