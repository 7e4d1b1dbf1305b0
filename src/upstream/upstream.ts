import type { Protocol, Surface } from "../domain/model.ts";
import type { Health } from "./cooldown.ts";

/** A body for an upstream, which forgets what was printed when it is sent: an upstream may think for minutes. */
export interface CallBody {
  /** Its length in UTF-8. */
  readonly bytes: number;
  /** The body, printed anew for every time but the first; the `Promise` is for one that is printed elsewhere. */
  take(): string | Uint8Array | Promise<string | Uint8Array>;
}

/** One call of an upstream, already in the wire format it speaks. */
export interface UpstreamCall {
  readonly surface: Surface;
  /** `WireProtocol.upstreamPath` of the format. */
  readonly path: string;
  readonly body: CallBody;
  readonly stream: boolean;
  /** Client headers that the format lets through (`anthropic-version`, `anthropic-beta`), lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** "?beta=true" or "". */
  readonly query: string;
}

/** How long an upstream may take, in milliseconds. */
export interface UpstreamTimeouts {
  /** From the call to a connection, TLS included; a connection that is kept open needs none of it. */
  readonly connectMs: number;
  /** From the call to the first output. */
  readonly firstOutputMs: number;
  /** Between two pieces of an answer. */
  readonly idleMs: number;
  /** From the call to the end of the answer. */
  readonly totalMs: number;
}

/** An upstream reached over HTTP, as the operator wrote it. */
export interface UpstreamConfig {
  readonly name: string;
  readonly protocol: Protocol;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeouts: UpstreamTimeouts;
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** Whether it speaks OpenAI's responses beside chat completions. */
  readonly hasResponses: boolean;
  /** After so many failures in a row it gets nothing but probes for a while. */
  readonly circuitFailures: number;
}

/** Who waits for a call: can end it, and is told how far it got. */
export interface CallObserver {
  /** Aborting it closes the connection at once. */
  readonly signal: AbortSignal;
  /** A connection is being made, or one that was kept open looked for. True at the start; said when it is so again. */
  connecting(): void;
  /** The connection stands, TLS included, and takes the call. */
  connected(): void;
  /** Resolves when nobody wants anything of the call any more. */
  readonly ended: Promise<void>;
}

/** A place that answers model requests. */
export interface Upstream {
  readonly name: string;
  /** The formats it speaks. */
  readonly surfaces: readonly Surface[];
  readonly timeouts: UpstreamTimeouts;
  /** The name it knows the output limit by, when it insists on one. */
  readonly outputLimitField: "max_tokens" | "max_completion_tokens" | undefined;
  /** What attempts have shown of it lately. */
  readonly health: Health;
  /** Sends one call. Rejects when no answer came. */
  send(call: UpstreamCall, observer: CallObserver): Promise<Response>;
}
