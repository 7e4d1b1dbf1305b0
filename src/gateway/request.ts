// The types of one request, in the order in which `run-request.ts` makes them; they make no circle.
import type { Caller } from "../accounts/keys/key.ts";
import type { Body } from "../bodies/body.ts";
import type { Nanos } from "../domain/money.ts";
import type { Scope } from "../domain/scope.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import { type Cause, GatewayError } from "../errors.ts";
import type { Attempt, Balances } from "../ledger/records.ts";
import type { SettledRequest } from "../telemetry/request-series.ts";
import type { RequestTrace } from "../telemetry/request-trace.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { PrintOptions, WireFormat } from "../wire/format.ts";
import type { AnswerReader } from "../wire/format-pair.ts";
import type { Meter } from "./meter.ts";
import type { PreferenceHeaders } from "./preferences.ts";
import type { PricedCandidate, Quote, QuotedPlan } from "./quote.ts";

/** One request of a client, as known before its body is read. */
export interface Call {
  /** UUIDv7. Identifies the request in headers and logs, and is the id of its hold and its receipt. */
  readonly id: string;
  readonly wire: WireFormat;
  /** The surface on the receipt. Default: that of the format. */
  readonly surface?: string;
  readonly secret: string | undefined;
  /** Client headers that are forwarded to an upstream of the same format. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  /** Whether the client accepts a lower output limit than its own when the wallet cannot pay for more. */
  readonly allowsClamp: boolean;
  /** Whom the client says that the request is for; `undefined` where no header says it. */
  readonly attribution?: AttributionHeaders | undefined;
  /** Clock reading at arrival, in milliseconds. */
  readonly startedAt: number;
  /** Unix seconds at arrival. */
  readonly createdAtS: number;
  /**
   * Reads the bytes of the body, once, within the caller's limits. Throws `encoded_body`, `body_too_large`,
   * `body_too_slow`, `too_concurrent`, `too_many_body_bytes` or `shutting_down`.
   */
  readBody(caller: Caller): Promise<readonly Uint8Array[]>;
  /** Called once when money is held, before an upstream is called. Must not throw. */
  onHeld?(held: HeldRequest): void;
  /** Follows the request step by step; `undefined` when it is not followed. */
  readonly trace?: RequestTrace | undefined;
  /** What upstreams are sent of a trace that is not followed. */
  readonly traceContext?: TraceContext | undefined;
  /** The request's log line, filled in while the request runs. */
  readonly record: RequestRecord;
  /** What else becomes known while the request runs. */
  readonly progress: RequestProgress;
}

/** The headers by which a client says whom a request is for, and what it may cost. They are sent to no upstream. */
export interface AttributionHeaders {
  /** `x-tollgate-user`: an end user. */
  readonly user: string | null;
  /** `x-tollgate-tags`: "feature=search, team=blue". */
  readonly tags: string | null;
  /** `x-tollgate-run`: "ID; max=2.00". */
  readonly run: string | null;
  /** `x-tollgate-max-cost-usd`. */
  readonly maxCost: string | null;
  /** Bounds that headers of the request set on its routes; absent without any. */
  readonly preferences?: PreferenceHeaders | undefined;
}

/** What a running request has come to, for metrics and for the error of one that is declined. */
interface RequestProgress {
  /** Milliseconds that were not the gateway's so far: the arrival of the body, and the attempts. */
  waitedMs: number;
  /** The model as the body names it, which may not exist; set when the body has been read. */
  requestedModel?: string;
  /** Set when the request is settled. */
  settled?: SettledRequest;
}

/** One line of the request log. Never holds a secret or text of a client or an upstream. */
export interface RequestRecord {
  /** Number of the client's retry, from 1; absent for a first try. */
  clientRetry?: number;
  keyId?: string;
  /** First characters of the key's secret, which may be displayed. */
  keyHint?: string;
  accountId?: string;
  model?: string;
  upstream?: string | undefined;
  attempts?: number;
  /** Routes that cannot do what the request needs, with what they lack. */
  skipped?: readonly string[];
  /** `ok`, a code of the error contract, or `client_closed`. */
  outcome?: string;
  chargedUsd?: string;
  /** Set when the reported usage was rejected as uncountable, and tokens were counted locally. */
  disbelieved?: true;
  /** Set when the reported usage exceeded the request's bound, and was charged up to the bound. */
  aboveBound?: true;
  /** 32 hex digits; absent without traces. */
  traceId?: string | undefined;
  /** Set when the ledger was away and the settlement went to the outbox. */
  journaled?: true;
  /** Set when the request came through a WebSocket. */
  socket?: true;
}

/** The HTTP reply. A stream opens as late as possible, so that a failure before it has its own status. */
export interface Reply {
  /** Aborts when the client has disconnected. */
  readonly signal: AbortSource;
  /** Adds headers; without effect once the reply is open. */
  setHeaders(headers: Readonly<Record<string, string>>): void;
  /** Announces a stream of this model: some formats report certain errors only inside a stream. */
  expectStream(model: string): void;
  /** Starts the keep-alive timer: from now on silence is filled, which also opens the stream. */
  beginStream(): void;
  /**
   * Sends a chunk of a stream, which opens it. Returns `undefined` while the buffer has room. Otherwise
   * returns a promise of room, which also resolves when the client is gone.
   */
  write(text: string): Promise<void> | undefined;
  /** Sends a whole answer, or the last chunk of a stream, and ends the reply. Default type: JSON. */
  end(text: string, contentType?: string): void;
  /** Makes the reply a file. Absent where a reply is a stream of events only. */
  openFile?(contentType: string): FileReply;
}

/** A reply that is a file, such as audio. It opens with its first chunk. */
export interface FileReply {
  /** Returns as {@link Reply.write} does. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** Sends the last chunk and ends the reply. */
  end(bytes: Uint8Array): void;
}

/** A route that can answer the request. */
export interface Candidate extends PricedCandidate {
  readonly upstream: Upstream;
  /** Reads the upstream's answers for the client; its `wire` is the format of the request body. */
  readonly codec: AnswerReader;
  /** Options of the request body, with the planned output limit. */
  readonly printOptions: PrintOptions;
}

/** Which model answers a request, and through which routes. */
export interface Plan extends QuotedPlan {
  /** Never empty, in the order of the model's routes. */
  readonly candidates: readonly Candidate[];
  /** Routes that cannot do what the request needs, as lines of the receipt; `undefined` without any. */
  readonly skipped?: readonly Attempt[] | undefined;
}

/** Money that is reserved for a running request. */
export interface OpenHold {
  readonly walletId: string;
  readonly holdId: string;
  readonly keyId: string;
  /** What it counts for beside its wallet and key. */
  readonly scopes?: readonly Scope[] | undefined;
  /** Between the quote at `outputTokensMin` and the quote at `outputTokensMax`. */
  readonly granted: Nanos;
}

/** An event source for `abort`; every `AbortSignal` is one. */
export interface AbortSource {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The caller of a running request. Aborts when its key is revoked or its account suspended. */
export interface RunningCaller extends AbortSource, Disposable {
  readonly keyId: string;
  /** The error that ends the request; set when aborted. */
  readonly ended: GatewayError | undefined;
}

/** A request with an open hold: everything that its attempts and its settlement need. */
export interface HeldRequest {
  readonly call: Call;
  /** Printed for each attempt, and counted locally when the upstream reports no usage. */
  readonly body: Body;
  readonly plan: Plan;
  /** Clamped to the limits and to the grant. */
  readonly quote: Quote;
  readonly hold: OpenHold;
  readonly meter: Meter;
  readonly caller: RunningCaller;
}

/** How a request ended on the upstream's side. */
export type Outcome =
  /** `ending` is sent to the client only after the settlement. */
  | {
      readonly kind: "finished";
      readonly ending: string;
      /** Default: JSON. */
      readonly contentType?: string | undefined;
      /** The last bytes of a file, instead of `ending`. */
      readonly rest?: { readonly file: FileReply; readonly bytes: Uint8Array } | undefined;
    }
  /** Finished, but the client's format cannot represent the answer. Charged, and not tried elsewhere. */
  | { readonly kind: "unrepresentable"; readonly error: GatewayError }
  /** Finished without readable output. */
  | { readonly kind: "empty" }
  /** `isFinal` when another candidate would fail as well. */
  | { readonly kind: "failed"; readonly error: GatewayError; readonly isFinal: boolean }
  /** The key was revoked or the account suspended while the request ran; `isSent` as for a disconnect. */
  | { readonly kind: "revoked"; readonly error: GatewayError; readonly isSent: boolean }
  /** The client disconnected; `isSent` when an upstream had the request and had not rejected it. */
  | { readonly kind: "client_disconnected"; readonly isSent: boolean };

/** The result of all attempts. */
export interface Answer {
  readonly outcome: Outcome;
  readonly attempts: readonly Attempt[];
}

/** The result of a settlement. */
export interface Bill {
  /** The amount that was booked, or that waits in the outbox. */
  readonly charged: Nanos;
  /** `undefined` when the ledger is away and the settlement waits in the outbox. */
  readonly balances: Balances | undefined;
}

/**
 * Returns the outcome as receipts and logs name it: `ok`, a code of the error contract, or `client_closed`.
 */
export function outcomeName(outcome: Outcome): string {
  switch (outcome.kind) {
    case "finished":
      return "ok";
    case "empty":
      return "empty_completion";
    case "client_disconnected":
      return "client_closed";
    case "unrepresentable":
    case "revoked":
    case "failed":
      return outcome.error.row.code;
  }
}

/** Creates the outcome of a complete answer that the client's format cannot represent. */
export function unrepresentable(reason: unknown): Outcome {
  return { kind: "unrepresentable", error: new GatewayError("upstream_unavailable", { reason }) };
}

/** Creates the outcome of a failed attempt. Another candidate may be called unless the failure is final. */
export function failed(
  cause: Cause,
  { reason, isFinal = false }: { readonly reason?: unknown; readonly isFinal?: boolean } = {},
): Outcome {
  return { kind: "failed", error: new GatewayError(cause, { reason }), isFinal };
}
