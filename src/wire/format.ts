import type { ChatEvent, ChatReply, FinishEvent, OutputEvent, UsageEvent } from "../domain/chat-event.ts";
import type { ChatRequest } from "../domain/chat-request.ts";
import type { LimitWindows } from "../domain/limit-windows.ts";
import type { ClientSurface, MessagesHost, ModelTraits, Route, Surface } from "../domain/model.ts";
import type { Tier } from "../domain/tiers.ts";
import type { GatewayError } from "../errors.ts";
import type { EmbeddingsCodec } from "./embeddings/codec.ts";
import type { FormFormat } from "./form.ts";
import type { JsonMeasure } from "./json/scan.ts";
import type {
  CountOptions,
  EchoedFields,
  HostOptions,
  ModelRequest,
  RequestHead,
  UpstreamRequestOptions,
} from "./model-request.ts";
import type { ReplyPart, ReplyReader } from "./reply-part.ts";
import type { SseEvent } from "./sse.ts";
import type { PromptTooLong } from "./upstream-fault.ts";

/**
 * The upstream's end of a wire format. Pure functions from text to values: no network, no money, no clock.
 *
 * Every format has a folder with the same file names. `ingress/` reads requests of clients and prints their
 * answers. `egress/` prints requests for upstreams and reads their answers. `passthrough/` forwards answers
 * whose format is the client's own. The files beside these folders are used by several of them.
 */
export interface UpstreamFormat {
  readonly surface: Surface;
  /** Returns the path of a call after an upstream's `base_url`. */
  upstreamPath(target: CallTarget): `/${string}`;
  /** Default headers of an upstream call; headers of the client override them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of client headers that are forwarded with a passthrough body. */
  readonly forwardedHeaders: readonly string[];
  /** Set in formats whose clients opt into features by name; not every host knows them. */
  readonly optIns?: OptIns | undefined;
  /** `undefined` if requests are never translated for upstreams of this format. */
  readonly egress: EgressCodec | undefined;
  /** Set in formats of embeddings other than OpenAI's. */
  readonly embeddings?: EmbeddingsCodec | undefined;
  /**
   * Returns whether an upstream error (400, 413, 422) rejects the prompt as too long: digits only, no text.
   */
  readPromptTooLong(text: string): PromptTooLong | undefined;
}

/** A format of upstreams that serves embeddings alone. */
export type EmbeddingsFormat = UpstreamFormat & { readonly embeddings: EmbeddingsCodec };

/** The features that clients of a format opt into by name, in a header or in the body. */
export interface OptIns {
  /** The options of bodies for a route and its host; `headers` are the client's. */
  optionsFor(route: Route, host: MessagesHost | undefined, headers: ClientHeaders): HostOptions;
  /** The client's headers, with the features that the route allows and the host knows. */
  headersFor(headers: ClientHeaders, request: RequestHead, options: HostOptions): ClientHeaders;
  /** Most tokens of a prompt and its answer under the allowed features; 0 for the model's own window. */
  windowOn(route: Route, headers: ClientHeaders, request: RequestHead): number;
}

/** The headers of a client that an upstream may receive, by their names in lower case. */
export type ClientHeaders = Readonly<Record<string, string>>;

/** What the path of a call may depend on. */
interface CallTarget {
  /** The upstream's name of the model. */
  readonly model: string;
  readonly stream: boolean;
}

/**
 * The list of messages in the bodies of a format. `parseRequest` must check each message on its own, and add up
 * the sizes of all, so that messages that were checked once need not be read again.
 */
export interface Conversation {
  readonly member: "messages" | "input" | "contents";
  /** Set where other members of a body decide how many tokens its images have. */
  readonly isOfText?: true;
  /** Whether bodies for upstreams of this format have all messages of a list, as JSON text, unchanged. */
  keeps(list: string): boolean;
}

/** The count of a prompt's tokens in a format, at the gateway and at upstreams. */
export interface CountFormat {
  /** Returns the path of a count after an upstream's `base_url`. */
  path(model: string): `/${string}`;
  /** Whether an upstream counts; `host` is set for clouds that host Anthropic's models. */
  isKnownTo(host: MessagesHost | undefined): boolean;
  printRequest(request: ModelRequest, options: CountOptions): string;
  /** Returns the tokens that an upstream counted, an integer from 0, or `undefined` for any other answer. */
  readCount(text: string): number | undefined;
  /** Prints the answer for the client. */
  printCount(tokens: number): string;
}

/** One wire format of clients, and of upstreams that speak it too. */
export interface WireFormat extends UpstreamFormat {
  readonly surface: ClientSurface;
  /** The route on the gateway; where {@link hasModelInPath} is set, what all routes of the format are below. */
  readonly path: `/v1/${string}` | "/v1beta";
  /** Set in formats whose clients name the model in the path; their routes add it to the body. */
  readonly hasModelInPath?: true | undefined;
  /** Other routes that take the same bodies. */
  readonly aliases?: readonly `/v2/${string}`[] | undefined;

  /** Set in formats whose clients mark the beginnings of prompts that are to be cached. */
  readonly hasCacheMarks?: true | undefined;
  /** Set in formats whose bodies repeat the messages of the request before. */
  readonly conversation?: Conversation | undefined;
  /** Set in formats whose clients count tokens. */
  readonly count?: CountFormat | undefined;
  /** Set in formats whose bodies are forms with a file; then only it reads requests. */
  readonly form?: FormFormat | undefined;
  /**
   * Parses and checks a body. Throws `not_json`, `wrong_shape`, `unpriced_field`, `nothing_stored`,
   * `thread_not_stored` or `untranslatable`. `measured` is the measure of the text where it is known.
   */
  parseRequest(text: string, measured?: JsonMeasure): ModelRequest;

  // Passthrough: client and upstream share this format, and bytes are kept wherever possible.
  printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string;
  /** Creates a reader for a streamed answer. */
  readStream(request: RequestHead): ReplyReader;
  /**
   * Reads a whole answer as one part whose `text` is the body for the client. Throws {@link UpstreamFault}.
   */
  readWhole(request: RequestHead, text: string): ReplyPart;

  /** Translation: `undefined` if answers in this format are never translated for clients. */
  readonly ingress: IngressCodec | undefined;

  /** Formats the per-minute limits of a client as response headers. `nowMs` is Unix time in milliseconds. */
  limitHeaders(windows: LimitWindows, nowMs: number): Record<string, string>;

  /** Returns the HTTP status of an error. */
  statusOf(error: GatewayError): number;
  /** Prints the body of an error. `betas` is the client's `anthropic-beta` header. */
  printError(error: GatewayError, requestId: string, betas?: string): string;
  /** Prints an error as an event of an open stream, after what has been sent. */
  printErrorFrame(error: GatewayError, requestId: string, sent?: SentStream): string;
  /** Whether clients that requested a stream read this error only as an event inside a stream. */
  sendsErrorInStream(error: GatewayError): boolean;
  /** Text that keeps a silent stream open. */
  readonly keepAlive: string;
}

/** What has been sent of a stream. */
export interface SentStream {
  /** The model that the request named. */
  readonly model: string;
  /** The last piece sent, of whole events; "" before the first. Keep-alive texts do not count. */
  readonly last: string;
}

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
  /** The service tier that the upstream is asked for; `auto` leaves it to the provider, `default` is the standard one. */
  readonly tier?: Tier | "auto" | "default" | undefined;
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
  readonly request: RequestHead;
  /** Whether the client receives the text of reasoning. */
  readonly isReasoningShown: boolean;
  /**
   * Whether the client receives signatures of reasoning to send back; equals `isReasoningShown` when omitted.
   */
  readonly keepsSignatures?: boolean | undefined;
  /** `undefined` for formats whose answers repeat nothing of the request. */
  readonly echoed?: EchoedFields | undefined;
  /** Whether the client receives vectors in base64. */
  readonly encodesVectors?: boolean | undefined;
  /** The client's tool names by their shortened names; names that were not shortened are omitted. */
  readonly toolNames: ReadonlyMap<string, string>;
}

/** The head of a translated answer, together with the request that it answers. */
export type ReplyHead = AnswerHead & Omit<AnswerContext, "toolNames">;

/** Returns whether a model is one of Anthropic's, which take Anthropic's own reasoning parameters. */
export function isClaudeModel({ reasoning }: ModelTraits): boolean {
  return reasoning === "budget" || reasoning === "adaptive";
}
