/**
 * What a client asks of a model, in no provider's words. Every protocol reads its own requests into this form
 * and prints them from it, so that each client reaches each upstream without a translator for every pair.
 */
export interface ChatRequest {
  /** In the client's order, never empty; a system turn may stand anywhere. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  /** Whether the model may call several tools at once; `undefined` leaves that to the provider. */
  readonly parallelToolCalls: boolean | undefined;
  readonly reasoning: Reasoning;
  readonly format: OutputFormat | undefined;
  readonly stopSequences: readonly string[];
  /** 0 to 2, as OpenAI counts it; Anthropic's ends at 1. */
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  /** Where the prompt shall be cached is left to the provider. */
  readonly cache?: CacheMark | undefined;
  /** The client's name for its own user. */
  readonly endUser: string | undefined;
}

/** One speaker's turn. What tools gave back stands in a user's turn. */
export interface Turn {
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly Part[];
}

export type Part = TextPart | ImagePart | DocumentPart | ToolCallPart | ToolResultPart | ReasoningPart;

/** What a tool may give back. */
export type ResultPart = TextPart | ImagePart | DocumentPart;

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
  readonly cache: CacheMark | undefined;
}

export interface ImagePart {
  readonly kind: "image";
  readonly source: InlineSource | UrlSource;
  /** OpenAI's "low", "high" or "auto". */
  readonly detail: string | undefined;
  readonly cache: CacheMark | undefined;
  /** Where it stands in the client's body (`messages[0].content[1]`), for a refusal that names it. */
  readonly path: string;
}

export interface DocumentPart {
  readonly kind: "document";
  readonly source: InlineSource | UrlSource | TextSource;
  /** Its title or file name. */
  readonly name: string | undefined;
  readonly cache: CacheMark | undefined;
  /** As of an image. */
  readonly path: string;
}

export interface InlineSource {
  readonly kind: "inline";
  /** "image/png", "application/pdf" */
  readonly mediaType: string;
  /** base64 */
  readonly data: string;
}

/** The provider fetches it; we never do. */
export interface UrlSource {
  readonly kind: "url";
  readonly url: string;
}

export interface TextSource {
  readonly kind: "text";
  readonly text: string;
}

export interface ToolCallPart {
  readonly kind: "tool_call";
  readonly id: string;
  readonly name: string;
  /** The text of a JSON object. */
  readonly input: string;
  readonly cache: CacheMark | undefined;
}

export interface ToolResultPart {
  readonly kind: "tool_result";
  readonly callId: string;
  readonly parts: readonly ResultPart[];
  readonly isError: boolean;
  readonly cache: CacheMark | undefined;
}

/** Reasoning of an earlier answer that comes back. Only its own provider can read the seal. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly text: string;
  /** Anthropic's signature over the text; "" or `undefined` when nobody sealed it. */
  readonly signature: string | undefined;
  /** Anthropic's encrypted reasoning, in place of a text. */
  readonly redacted: string | undefined;
}

/** A place up to which the prompt shall be cached. */
export interface CacheMark {
  /** `undefined` is the provider's usual five minutes. */
  readonly ttl: "5m" | "1h" | undefined;
}

export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonSchema;
  readonly strict: boolean | undefined;
  /** Whether the client knows it as a tool that takes any text: that text is the one member, `input`. */
  readonly isFreeForm: boolean;
  readonly cache: CacheMark | undefined;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export type ToolChoice =
  | { readonly kind: "auto" | "none" | "required" }
  | { readonly kind: "tool"; readonly name: string };

export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** How much the model shall reason, as far as the client said so. */
export interface Reasoning {
  readonly effort: Effort | undefined;
  /** Anthropic's ways: a budget, as much as the model likes, or not at all. */
  readonly thinking: "enabled" | "adaptive" | "disabled" | undefined;
  /** With "enabled", in tokens. */
  readonly budgetTokens: number | undefined;
  /** Whether the client gets to see what was reasoned. */
  readonly isShown: boolean;
}

export type OutputFormat =
  /** Any JSON object. */
  | { readonly kind: "json" }
  | {
      readonly kind: "schema";
      readonly name: string | undefined;
      readonly description: string | undefined;
      readonly schema: JsonSchema;
      readonly strict: boolean | undefined;
    };
