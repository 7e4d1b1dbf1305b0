import type { ChatRequest } from "../domain/chat-request.ts";
import type { LimitWindows } from "../domain/limit-windows.ts";
import type { Surface } from "../domain/model.ts";
import type { Usage } from "../domain/usage.ts";
import type { GatewayError } from "../errors.ts";
import type { Asked, ClientEnd, UpstreamEnd } from "./codecs.ts";

/** How large the input of a request is, as far as its price can depend on it. */
export interface InputSize {
  /** Bytes of the body without inline media. */
  readonly textBytes: number;
  /** Bytes of those media. */
  readonly mediaBytes: number;
  /** Inline images. */
  readonly images: number;
  /** A remote file or an inline document: the input may fill the context window. */
  readonly unbounded: boolean;
  /**
   * A tool that runs at the upstream: the same, unless translation leaves the tool out. The prompt is read anew for each
   * of its results, and the reported input is the sum.
   */
  readonly serverTools: boolean;
  /** How often the upstream may read the prompt for one answer without any tool; once when left out. */
  readonly readings?: number | undefined;
  /** How many prompts there are, each of which may fill the context window; one when left out. */
  readonly prompts?: number | undefined;
  /** Tokens that the client sent as ids: they are counted, and in no text. */
  readonly tokenIds?: number | undefined;
}

/** What the gateway must know of a request: plain data, which another thread can read for this one. */
export interface RequestFacts {
  readonly model: string;
  readonly stream: boolean;
  /** The client's own output limit, from 1; 0 for what has no output. */
  readonly outputTokensMax: number | undefined;
  /** The name the client has for it, where the protocol has two. */
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** The reasoning budget inside the output limit; a ceiling may not be lowered to it. */
  readonly thinkingTokens: number;
  /** How many answers are asked for, from 1. */
  readonly choices: number;
  /** Whether the client wants usage in a stream. */
  readonly wantsUsage: boolean;
  readonly input: InputSize;
  /** Anthropic's betas that the body names; those of the header are not among them. */
  readonly betas?: readonly string[] | undefined;
}

/** A request with its body at hand; what is no fact goes through in `text`, unread. */
export interface ModelRequest extends RequestFacts {
  /** The body as the client sent it. */
  readonly text: string;
  /** The text of the prompt, for a local count; built when called. */
  promptText(): string;
  /**
   * Reads all of it in no provider's words, each time anew. Throws `untranslatable` or `wrong_shape`, naming what no
   * other format can say or read, or `not_built` where there is no other.
   */
  readChat(): ChatRequest;
  /** Reads what a translated answer repeats of its request, in formats whose answers do. Only after {@link readChat}. */
  readAsked?(): Asked | undefined;
}

/** What changes in a body on its way to an upstream; all other bytes stay as they are. */
export interface UpstreamRequestOptions {
  readonly model: string;
  readonly outputTokensMax: number;
  /** The name the upstream knows the output limit by; `undefined` keeps the client's choice. */
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** Betas with a price of their own that the upstream may get. */
  readonly betas?: readonly string[] | undefined;
}

/** A step of an answer: what the client gets to see of it, and what it means to the gateway. */
export interface ReplyPart {
  /** Text for the client, "" for what it must not see or may see only at the end. */
  readonly text: string;
  /** A block start, or the first non-empty text, reasoning or tool delta: headers may go out. */
  readonly isOutput: boolean;
  /** Text, a tool call, a refusal or a content-filter finish. Reasoning alone is not readable. */
  readonly isReadable: boolean;
  /** Everything generated in this step (text, reasoning, arguments), for a local count. */
  readonly generated: string;
  /** Usage so far as the upstream reports it: replaces what earlier parts said. */
  readonly usage: Usage | undefined;
  /** Why a whole answer, complete as it is, cannot be said in the client's format; `text` is "" then. */
  readonly unsayable?: UpstreamFault | undefined;
}

/**
 * Reads one answer of an upstream, event by event, as the client shall see it. Keeps back everything
 * from the finish on, so that the end can be said after the settlement. One per answer.
 */
export interface ReplyReader {
  /** Reads one SSE event. Throws {@link UpstreamFault} on what is not an event of this protocol, or an error event. */
  read(event: SseEvent): ReplyPart;
  /** Whether the upstream has said why it finished, for every choice. */
  readonly finished: boolean;
  /** Whether the upstream has said its last event: nothing more is read. */
  readonly done: boolean;
  /** What was kept back, finish and end marker included. Only after `finished`. */
  ending(): string;
}

/** A stream as far as the client has seen it. */
export interface SentStream {
  /** The model that the request named. */
  readonly model: string;
  /** The last piece that was sent, of whole events; "" before the first. Keep-alives do not count. */
  readonly last: string;
}

/** One event of a server-sent event stream. `data` joins several data lines with a line feed. */
export interface SseEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** The upstream broke its own protocol or said it failed. Carries nothing of what it said. */
export class UpstreamFault extends Error {
  override readonly name = "UpstreamFault";
  /** Set when what failed is the request: a provider may say only inside its answer that the prompt is too long. */
  readonly promptTooLong: PromptTooLong | undefined;

  constructor(message: string, promptTooLong?: PromptTooLong) {
    super(message);
    this.promptTooLong = promptTooLong;
  }
}

/**
 * Where an upstream's words about a refused prompt held numbers: tokens asked for, from its text.
 * `undefined` when it said the prompt is too long without a number.
 */
export interface PromptTooLong {
  readonly tokens: number | undefined;
}

/**
 * One wire format, seen from both ends. Pure: bytes and JSON in, values out; knows no network, no
 * money and no clock. The same questions have the same file names in each protocol's folder: in `client/` its requests
 * are read and answers printed for its clients, in `upstream/` requests are printed for its hosts and their answers
 * read, in `verbatim/` answers pass as they are, and beside those stands what several of them need.
 */
export interface WireProtocol {
  readonly surface: Surface;
  /** The route on the gateway. */
  readonly path: `/v1/${string}`;
  /** What follows the upstream's `base_url`. */
  readonly upstreamPath: `/${string}`;
  /** Headers of every call of an upstream, unless the client's own take their place. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names of client headers that go on when the body does. */
  readonly forwardedHeaders: readonly string[];

  /** Reads and checks a body. Throws `not_json`, `wrong_shape`, `unpriced_field`, `nothing_stored`, `thread_not_stored` or `untranslatable`. */
  parseRequest(text: string): ModelRequest;

  // A client and an upstream of this same format: all that may stays as it is, byte for byte.
  printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string;
  /** A reader for a streamed answer. */
  readStream(request: RequestFacts): ReplyReader;
  /** Reads a whole answer as one part whose `text` is the body for the client. Throws {@link UpstreamFault}. */
  readWhole(request: RequestFacts, text: string): ReplyPart;

  // One of them speaks another; `undefined` for an end that is never translated.
  readonly client: ClientEnd | undefined;
  readonly upstream: UpstreamEnd | undefined;

  /** Whether a refusal (400, 413, 422) means that the prompt is too long; reads digits, never text. */
  readPromptTooLong(text: string): PromptTooLong | undefined;

  /** Formats the per-minute limits of a client as response headers. */
  limitHeaders(windows: LimitWindows): Record<string, string>;

  /** Status of an error answer. */
  statusOf(error: GatewayError): number;
  /** Its body. `betas` is the client's `anthropic-beta` header. */
  printError(error: GatewayError, requestId: string, betas?: string): string;
  /** The same inside a stream, behind what was sent in it. */
  printErrorFrame(error: GatewayError, requestId: string, sent?: SentStream): string;
  /** Whether clients that asked for a stream read this refusal only inside one. */
  refusesInStream(error: GatewayError): boolean;
  /** What fills a silence in an open stream. */
  readonly keepAlive: string;
}
