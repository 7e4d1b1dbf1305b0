import type { ChatRequest } from "../domain/chat-request.ts";
import type { Capability, MessagesHost } from "../domain/model.ts";
import type { Tier, TierDemand } from "../domain/tiers.ts";
import type { ToolDemands } from "../domain/tool-fees.ts";
import type { UnitDemand } from "../domain/units.ts";

/** The size of a request's input, as far as its price can depend on it. */
export interface InputSize {
  /** Bytes of the body without inline media. */
  readonly textBytes: number;
  /** Bytes of inline media. */
  readonly mediaBytes: number;
  /** Number of inline images. */
  readonly images: number;
  /** How many images' tokens each image may take at most. Default: 1. */
  readonly imageWeight?: number | undefined;
  /** Whether a remote file or an inline document may fill the context window. */
  readonly unbounded: boolean;
  /**
   * Whether a tool that runs at the upstream may fill the context window. The upstream reads the prompt again
   * for each result and reports the sum. Translation may drop such tools.
   */
  readonly serverTools: boolean;
  /** How often the upstream may read the prompt for one answer without a tool call; 1 when omitted. */
  readonly readings?: number | undefined;
  /** Number of prompts; 1 when omitted. Each prompt may fill the context window. */
  readonly prompts?: number | undefined;
  /** Number of tokens that the client sent as ids: counted exactly, and not part of the prompt text. */
  readonly tokenIds?: number | undefined;
  /** Estimate of the tokens of files, for answers that report no usage. Default: 0. */
  readonly fileTokens?: number | undefined;
  /** Estimate of the tokens of recordings, which may have a price of their own, for such answers. Default: 0. */
  readonly audioTokens?: number | undefined;
}

/** A request without its body, checked. Plain data that can be sent between threads. */
export interface RequestHead {
  readonly model: string;
  readonly stream: boolean;
  /** The client's output limit in tokens, at least 1; 0 for formats without output. */
  readonly outputTokensMax: number | undefined;
  /** The field in which the client sent the limit, in formats that have two. */
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** The reasoning budget in tokens, part of the output limit. The limit must stay above it. */
  readonly thinkingTokens: number;
  /** Number of answers requested, at least 1. */
  readonly choices: number;
  /** Whether the client requested usage in a stream. */
  readonly wantsUsage: boolean;
  readonly input: InputSize;
  /** What a model must be able to do beside text; `undefined` for nothing. */
  readonly needs?: readonly Capability[] | undefined;
  /** Anthropic betas named in the body; betas of the header are not included. */
  readonly betas?: readonly string[] | undefined;
  /** Path of the first field that no other host of Anthropic's models can serve; `undefined` for none. */
  readonly unhosted?: string | undefined;
  /** The service tier that the request asks for; `undefined` for the standard one. */
  readonly tier?: TierDemand | undefined;
  /** The tiers that its fields exclude by a standard value, such as `service_tier: default`. */
  readonly declinedTiers?: readonly Tier[] | undefined;
  /** What a model that is priced by unit charges for; `undefined` for formats without units. */
  readonly units?: UnitDemand | undefined;
  /** The tools that may run at the provider, at a fee; `undefined` for none. */
  readonly tools?: ToolDemands | undefined;
  /** The field that asks for spoken output; `undefined` for text. */
  readonly audioOutput?: string | undefined;
  /** The fewest bytes of spoken output that one token takes; `undefined` where none is asked for. */
  readonly audioTokenBytes?: number | undefined;
  /** The field that asks for images in the answer of a conversation; `undefined` for none. */
  readonly imageOutput?: string | undefined;
  /** "model" in formats that cannot limit the output: each choice may have the model's maximum. */
  readonly outputTokensBound?: "model" | undefined;
  /** Output tokens of each choice beside the model's maximum, for partial images. Default: 0. */
  readonly outputTokensExtra?: number | undefined;
  /** The output tokens to charge where an answer neither shows nor reports them. Default: 0. */
  readonly outputTokensUsual?: number | undefined;
  /** The most bytes of a whole answer. Default: 32 MiB, and 64 KiB for each prompt. */
  readonly answerBytesMax?: number | undefined;
  /** The most characters of one event. Default: 16 MiB. */
  readonly eventCharsMax?: number | undefined;
  /** Whether upstreams that do not stream answer as a whole. */
  readonly mayComeWhole?: boolean | undefined;
  /** Whether a whole answer is plain text instead of JSON. */
  readonly answersText?: boolean | undefined;
  /** Whether the answer is bytes of a file, which pass through as they arrive. */
  readonly isBinary?: boolean | undefined;
  /** The end user that the body names: any text of at most 1,024 characters. */
  readonly endUser?: string | undefined;
  /** Hash of the beginning of the prompt; set where the text stays in another thread. */
  readonly beginning?: number | undefined;
}

/**
 * A request together with its body. Fields that the gateway does not check are forwarded unread in `text`.
 */
export interface ModelRequest extends RequestHead {
  /** The body as the client sent it. */
  readonly text: string;
  /** Builds the text of the prompt for a local token count. */
  promptText(): string;
  /**
   * Parses the body into the neutral form, again on each call. Throws `untranslatable` or `wrong_shape` with
   * the path of a field that other formats cannot represent or that is malformed. Throws `not_built` if the
   * format is never translated.
   */
  readChat(): ChatRequest;
  /** Returns the request fields that a translated answer repeats. Must be called after {@link readChat}. */
  readEchoedFields?(): EchoedFields | undefined;
}

/** What the gateway changes in a body for an upstream; every other byte is kept. */
export interface UpstreamRequestOptions extends HostOptions {
  readonly model: string;
  readonly outputTokensMax: number;
  /** The upstream's name of the output limit; `undefined` keeps the client's field. */
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** Set where the provider may run tools at a fee. */
  readonly toolBound?: ToolBound | undefined;
  /** Optional tools at the provider that are not sent, because they have no fee. */
  readonly droppedTools?: readonly string[] | undefined;
}

/** The bound of tool calls that is sent where the client sets none. */
export interface ToolBound {
  /** The tools that have a fee. */
  readonly names: readonly string[];
  readonly callsMax: number;
}

/** What a body in the messages format depends on beside the model: its route and its host. */
export interface HostOptions {
  /** Betas with a price of their own that the route allows. */
  readonly betas?: readonly string[] | undefined;
  /** `undefined` for Anthropic's own API. */
  readonly messagesHost?: MessagesHost | undefined;
  /** The client's `anthropic-beta` header, for a host whose body must agree with the betas that it gets. */
  readonly headerBetas?: string | undefined;
}

/** What the gateway changes in a body for a count of its tokens. */
export type CountOptions = Pick<UpstreamRequestOptions, "model" | "betas" | "messagesHost" | "headerBetas">;

/** The fields of a request that a responses answer repeats. */
export interface EchoedFields {
  /** JSON members without the surrounding braces. */
  readonly members: string;
  /** Tools that are not plain functions, by their name at the upstream. */
  readonly tools: ReadonlyMap<string, EchoedTool>;
  /** Whether the client requested encrypted reasoning that it can send back. */
  readonly includesEncryptedReasoning: boolean;
  /** Whether the answer is the summary that replaces the conversation. */
  readonly isCompaction: boolean;
}

/** A tool under the client's own name. */
export interface EchoedTool {
  readonly name: string;
  readonly namespace: string | undefined;
  /** Whether the tool takes free text. The upstream sends that text as the only member of a JSON object. */
  readonly isFreeForm: boolean;
}
