/**
 * A chat request in the neutral form. Ingress codecs decode requests into it, and egress codecs encode
 * requests from it, so that no translator per format pair is needed.
 */
export interface ChatRequest {
  /** In the client's order, never empty. A system turn may be anywhere. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  /** Whether the model may call several tools at once; `undefined` leaves that to the provider. */
  readonly parallelToolCalls: boolean | undefined;
  readonly reasoning: Reasoning;
  readonly format: OutputFormat | undefined;
  readonly stopSequences: readonly string[];
  /** 0 to 2, as on the OpenAI surfaces; the messages surface allows at most 1. */
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
  readonly topK: number | undefined;
  /** A whole number that makes answers repeatable, as far as the provider can. */
  readonly seed?: number | undefined;
  /** From -2 to 2, as is the penalty by frequency. */
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  /** Lets the provider choose where to cache the prompt. */
  readonly cache?: CacheMark | undefined;
  /** The client's id of its own end user. */
  readonly endUser: string | undefined;
}

/** The consecutive parts of one role. Tool results are in a user turn. */
export interface Turn {
  readonly role: "system" | "user" | "assistant";
  readonly parts: readonly Part[];
}

export type Part = TextPart | ImagePart | DocumentPart | ToolCallPart | ToolResultPart | ReasoningPart;

/** A part of a tool result. */
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
  /** The path in the client's body (`messages[0].content[1]`), for errors. */
  readonly path: string;
}

/** A file: a PDF, a text or a recording. */
export interface DocumentPart {
  readonly kind: "document";
  readonly source: InlineSource | UrlSource | TextSource;
  /** The title or file name of the document. */
  readonly name: string | undefined;
  readonly cache: CacheMark | undefined;
  /** The path in the client's body, as for an image. */
  readonly path: string;
}

export interface InlineSource {
  readonly kind: "inline";
  /** Such as "image/png", "application/pdf" or "audio/wav". */
  readonly mediaType: string;
  /** The bytes of the file in base64. */
  readonly data: string;
}

/** A file that the provider fetches. The gateway never does. */
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

/** Reasoning of an earlier answer, sent back by the client. */
export interface ReasoningPart {
  readonly kind: "reasoning";
  readonly text: string;
  /** Anthropic's signature of the text; "" or `undefined` for unsigned reasoning. */
  readonly signature: string | undefined;
  /** Anthropic's encrypted reasoning, which replaces the text. */
  readonly redacted: string | undefined;
}

/** Marks the end of a prompt prefix to cache. */
export interface CacheMark {
  /** `undefined` is the provider's default of 5 minutes. */
  readonly ttl: "5m" | "1h" | undefined;
}

export interface Tool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonSchema;
  readonly strict: boolean | undefined;
  /** Whether the client declared a tool of free text. The text is then the only member, `input`. */
  readonly isFreeForm: boolean;
  readonly cache: CacheMark | undefined;
}

export type JsonSchema = Readonly<Record<string, unknown>>;

export type ToolChoice =
  | { readonly kind: "auto" | "none" | "required" }
  | { readonly kind: "tool"; readonly name: string };

export type Effort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** How much the model shall reason; `undefined` fields were not set by the client. */
export interface Reasoning {
  readonly effort: Effort | undefined;
  /** Anthropic's modes: with a budget, adaptive, or disabled. */
  readonly thinking: "enabled" | "adaptive" | "disabled" | undefined;
  /** The budget in tokens, set only when `thinking` is "enabled". */
  readonly budgetTokens: number | undefined;
  /** Whether the reasoning is sent to the client. */
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
