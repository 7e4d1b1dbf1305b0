import type { ChatEvent, ChatReply, FinishEvent, OutputEvent, UsageEvent } from "../domain/chat-event.ts";
import type { ChatRequest } from "../domain/chat-request.ts";
import type { ModelTraits } from "../domain/model.ts";
import type { EchoedFields, RequestFacts, UpstreamRequestOptions } from "./model-request.ts";
import type { SseEvent } from "./sse.ts";

/** The client's side of a format, for answers that arrive in another format. */
export interface IngressCodec {
  printStream(head: ReplyHead): EventPrinter;
  /** Prints a whole answer. Throws {@link UpstreamFault} for an answer that the format cannot represent. */
  printWhole(head: ReplyHead, reply: ChatReply): string;
}

/** The upstream's side of a format, for requests that arrive in another format. */
export interface EgressCodec {
  /** Longest tool name that hosts of this format accept, in characters. */
  readonly nameCharsMax: number;
  /** Longest id of a tool call, in characters. */
  readonly idCharsMax: number;
  /** Returns the path of a field that this format cannot represent and the client would miss. */
  findUntranslatable(request: ChatRequest): string | undefined;
  /** Prints the body with the model, the output limit and the stream flag of the options. */
  printRequest(request: ChatRequest, options: PrintOptions): string;
  readStream(source?: Source): EventReader;
  /** Reads a whole answer: output, one finish, and usage if reported. Throws {@link UpstreamFault}. */
  readWhole(text: string, source?: Source): readonly ChatEvent[];
}

/** Reads one streamed answer into neutral events. One reader per answer. */
export interface EventReader {
  /**
   * Reads one SSE event. Returns one finish in all, and only usage after it. Throws {@link UpstreamFault}.
   */
  read(event: SseEvent): readonly ChatEvent[];
  readonly finished: boolean;
  /** Whether the upstream has sent its last event. */
  readonly done: boolean;
}

/** Prints one answer as a stream for a client. One printer per answer. */
export interface EventPrinter {
  /**
   * Prints one event and any frames that must precede it; "" if the client sees nothing. `usage` is what the
   * upstream has reported so far.
   */
  print(event: OutputEvent, usage?: UsageEvent): string;
  /**
   * Prints the rest, from the finish on. Throws {@link UpstreamFault} if the format cannot end this answer.
   */
  end(finish: FinishEvent, usage: UsageEvent | undefined): string;
}

/** The options of a translated body. */
export interface PrintOptions extends UpstreamRequestOptions {
  readonly stream: boolean;
  readonly traits: ModelTraits;
  /** Whether cache marks are set in a prompt that has none. */
  readonly marksPrefixes?: boolean | undefined;
  /** The {@link Source.origin} of the upstream; without it, no signed or encrypted reasoning is sent. */
  readonly origin?: string | undefined;
}

/** The upstream model that an answer comes from. */
export interface Source {
  /** Identifies the upstream and its model: reasoning that it signed is sent back to no other. */
  readonly origin: string;
  /** Whether the model is one of Anthropic's, at any host. */
  readonly isClaude: boolean;
}

/** The fields of an answer that the gateway sets. */
export interface AnswerHead {
  readonly source?: Source | undefined;
  /** The answer's id without its prefix: letters and digits. */
  readonly id: string;
  /** Unix seconds. */
  readonly createdAtS: number;
  /** An estimate, for formats that send the input tokens before the upstream has counted them. */
  readonly inputTokens: number;
  /** Whether what a whole answer says of itself is read for a trace. */
  readonly isFollowed?: boolean;
}

/** The facts of a request that its answer depends on. Plain data: the body need not be kept. */
export interface AnswerContext {
  readonly request: RequestFacts;
  /** Whether the client receives the text of reasoning. */
  readonly isReasoningShown: boolean;
  /**
   * Whether the client receives signatures of reasoning to send back; equals `isReasoningShown` when omitted.
   */
  readonly keepsSignatures?: boolean | undefined;
  /** `undefined` for formats whose answers repeat nothing of the request. */
  readonly echoed?: EchoedFields | undefined;
  /** The client's tool names by their shortened names; names that were not shortened are omitted. */
  readonly toolNames: ReadonlyMap<string, string>;
}

/** The head of a translated answer, together with the request that it answers. */
export type ReplyHead = AnswerHead & Omit<AnswerContext, "toolNames">;

/** Returns whether a model is one of Anthropic's, which take Anthropic's own reasoning parameters. */
export function isClaudeModel({ reasoning }: ModelTraits): boolean {
  return reasoning === "budget" || reasoning === "adaptive";
}
