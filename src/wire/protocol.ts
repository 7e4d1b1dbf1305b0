import type { LimitWindows } from "../domain/limit-windows.ts";
import type { ClientSurface, Surface } from "../domain/model.ts";
import type { GatewayError } from "../errors.ts";
import type { EgressCodec, IngressCodec } from "./codecs.ts";
import type { FormFormat } from "./form.ts";
import type { ModelRequest, RequestFacts, UpstreamRequestOptions } from "./model-request.ts";
import type { ReplyPart, ReplyReader } from "./reply-part.ts";
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
  /** `undefined` if requests are never translated for upstreams of this format. */
  readonly egress: EgressCodec | undefined;
  /**
   * Returns whether an upstream error (400, 413, 422) rejects the prompt as too long: digits only, no text.
   */
  readPromptTooLong(text: string): PromptTooLong | undefined;
}

/** What the path of a call may depend on. */
interface CallTarget {
  /** The upstream's name of the model. */
  readonly model: string;
  readonly stream: boolean;
}

/** One wire format of clients, and of upstreams that speak it too. */
export interface WireProtocol extends UpstreamFormat {
  readonly surface: ClientSurface;
  /** The route on the gateway. */
  readonly path: `/v1/${string}`;
  /** Other routes that take the same bodies. */
  readonly aliases?: readonly `/v2/${string}`[] | undefined;

  /** Set in formats whose bodies are forms with a file; then only it reads requests. */
  readonly form?: FormFormat | undefined;
  /**
   * Parses and checks a body. Throws `not_json`, `wrong_shape`, `unpriced_field`, `nothing_stored`,
   * `thread_not_stored` or `untranslatable`.
   */
  parseRequest(text: string): ModelRequest;

  // Passthrough: client and upstream share this format, and bytes are kept wherever possible.
  printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string;
  /** Creates a reader for a streamed answer. */
  readStream(request: RequestFacts): ReplyReader;
  /**
   * Reads a whole answer as one part whose `text` is the body for the client. Throws {@link UpstreamFault}.
   */
  readWhole(request: RequestFacts, text: string): ReplyPart;

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
