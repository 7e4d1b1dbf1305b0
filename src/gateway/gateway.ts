import type { Authenticate, Caller } from "../accounts/key.ts";
import type { Bodies } from "../bodies/bodies.ts";
import type { LoopShare } from "../bodies/loop-share.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Limiter, Limits } from "../limiter/limiter.ts";
import type { SettlementOutbox } from "../settlement-outbox/entry.ts";
import type { Log } from "../telemetry/log.ts";
import type { UpstreamMetrics } from "../telemetry/upstream-metrics.ts";
import type { TokenCounter } from "../tokens/count-tokens.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { WireProtocol } from "../wire/protocol.ts";
import type { CallerWatch } from "./caller-watch.ts";
import type { Heartbeats } from "./heartbeats.ts";
import type { HoldHealth } from "./hold-health.ts";
import type { RefusalMemory } from "./refusal-memory.ts";
import type { RequestRecord } from "./request-record.ts";

/** The input of the request, or nothing. */
export type ClientDisconnect = "charge_input" | "free";

/** What the operator offers, to whom and at which price: as much of the configuration as can change while it runs. */
export interface Offer {
  readonly catalog: Catalog;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** What binds a key that sets no limit of its own. */
  readonly keyLimits: Limits;
  readonly accountLimits: Limits;
  /** What a client pays that hangs up while an upstream has its request but has put nothing out. */
  readonly clientDisconnect: ClientDisconnect;
}

/** The parts that a request needs on its way. Never changes under a request: a new offer makes a new one. */
export interface Gateway extends Offer {
  readonly authenticate: Authenticate;
  readonly limiter: Limiter;
  readonly ledger: Ledger;
  /** Takes the end of a hold when the ledger cannot. */
  readonly outbox: SettlementOutbox;
  readonly tokens: TokenCounter;
  readonly bodies: Bodies;
  /** Lets work that comes piece by piece share the event loop with everything else. */
  readonly share: LoopShare;
  readonly heartbeats: Heartbeats;
  readonly callers: CallerWatch;
  readonly refusals: RefusalMemory;
  readonly holdHealth: HoldHealth;
  readonly holdTtlMs: number;
  /** Milliseconds that only ever rise; for durations. */
  readonly clock: () => number;
  readonly log: Log;
  readonly metrics: UpstreamMetrics;
  /** Aborted when the process can wait no longer: what runs then ends as it stands. */
  readonly shutdown: AbortSignal;
}

/** One request of a client, as far as it is known before its body is read. */
export interface Call {
  /** Names the request everywhere: in headers, in the log, as its hold and as its receipt. */
  readonly id: string;
  readonly wire: WireProtocol;
  readonly secret: string | undefined;
  /** Client headers that go on to an upstream of the same protocol. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  /** Whether the client lets its own output limit be lowered to what the wallet affords. */
  readonly allowsClamp: boolean;
  /** Clock reading when the request came in. */
  readonly startedAt: number;
  /** The same in Unix seconds. */
  readonly createdAtS: number;
  /**
   * Reads the bytes of the body once, within what its caller may send. Throws `encoded_body`, `body_too_large`,
   * `body_too_slow`, `too_concurrent`, `too_many_body_bytes` or `shutting_down`.
   */
  readBody(caller: Caller): Promise<readonly Uint8Array[]>;
  /** What the log will say of this request; filled in as it becomes known. */
  readonly record: RequestRecord;
}

/** Where the answer goes. A stream is opened as late as possible, so that failures before it have a true status. */
export interface Reply {
  /** Aborted when the client has hung up. */
  readonly signal: AbortSignal;
  /** Adds headers; without effect once the reply is open. */
  setHeaders(headers: Readonly<Record<string, string>>): void;
  /** Says that the client asked for a stream of this model, in which some refusals must be told. */
  expectStream(model: string): void;
  /** Says that this answer is a stream: from now on silences are filled. */
  beginStream(): void;
  /**
   * Sends a piece of a stream, opening it first. `undefined` when there is room for more, else a promise that
   * resolves when there is again, or nobody left to read.
   */
  write(text: string): Promise<void> | undefined;
  /** Says the end: the whole body of an answer, or the last piece of a stream. */
  end(text: string): void;
}
