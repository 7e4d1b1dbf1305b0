import type { TraceContext } from "../domain/trace-context.ts";
import type { LogFields } from "./log.ts";

/** A step of the story of a request. */
export type Verb =
  | "authenticate"
  | "read"
  | "plan"
  | "quote"
  | "admit"
  | "hold"
  | "forward"
  | "settle"
  | "conclude";

/** What a step found out, by names of log fields. Never a secret, a body, or prose of a client or an upstream. */
export type TraceFacts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** An error of the contract: its code, and whether it is a fault of the gateway or an upstream. */
export interface TraceFailure {
  readonly code: string;
  readonly isFault: boolean;
}

/** One running span. Times are readings of the gateway's clock, in milliseconds. */
export interface TraceSpan {
  /** 32 hex digits. */
  readonly traceId: string;
  /** Whether the span is sampled. Without, its context is sent on and nothing else happens. */
  readonly isRecorded: boolean;
  /** What calls made within this span send on; `undefined` when nothing is sent on. */
  readonly context: TraceContext | undefined;
  /** Starts a span within this one. `isCall` marks a call of another service. */
  child(name: string, at: number, isCall?: boolean): TraceSpan;
  /** Ends the span; later calls have no effect. */
  end(at: number, facts: TraceFacts, failure?: TraceFailure): void;
}

/** Writes one line about a step of a request. */
export type WriteStep = (fields: LogFields, event: string) => void;

export interface RequestTraceParts {
  readonly requestId: string;
  /** Monotonic milliseconds. */
  readonly clock: () => number;
  /** The span of the whole request, sampled or not; `undefined` without traces. */
  readonly span: TraceSpan | undefined;
  /** Writes the steps to the log; `undefined` when they are not logged. */
  readonly write: WriteStep | undefined;
  /** Returns the function that writes the steps of a key that is marked for debug; absent without such keys. */
  readonly writeFor: ((keyId: string) => WriteStep | undefined) | undefined;
  /** Whether spans carry the texts of prompt and answer. */
  readonly capturesContent: boolean;
}

/** The steps of one request, as spans, as log lines, or as both. A verb ends when the next one begins. */
export class RequestTrace {
  readonly capturesContent: boolean;
  readonly #requestId: string;
  readonly #clock: () => number;
  readonly #root: TraceSpan | undefined;
  readonly #writeFor: RequestTraceParts["writeFor"];
  #write: WriteStep | undefined;
  #verb: Verb | undefined;
  #verbAt = 0;
  #span: TraceSpan | undefined;
  #facts: TraceFacts = {};
  #failure: TraceFailure | undefined;

  constructor({ requestId, clock, span, write, writeFor, capturesContent }: RequestTraceParts) {
    this.#requestId = requestId;
    this.#clock = clock;
    this.#root = span;
    this.#write = write;
    this.#writeFor = writeFor;
    this.capturesContent = capturesContent;
  }

  /** What a call of the running verb sends on; `undefined` without traces. */
  get context(): TraceContext | undefined {
    return this.#span?.context;
  }

  /** Begins a verb, and ends the one before it. */
  enter(verb: Verb): void {
    const at = this.#clock();
    this.#leave(at);
    this.#verb = verb;
    this.#verbAt = at;
    this.#span = this.#root?.child(verb, at);
  }

  /** Adds facts to the running verb. */
  note(facts: TraceFacts): void {
    this.#facts = { ...this.#facts, ...facts };
  }

  /** Adds the key to the running verb. The steps of a key that is marked for debug are logged from here on. */
  foundKey(keyId: string): void {
    this.note({ keyId });
    this.#write ??= this.#writeFor?.(keyId);
  }

  /** Begins a call of an upstream within the running verb. */
  attempt(name: string): AttemptTrace {
    const startedAt = this.#clock();
    const span = (this.#span ?? this.#root)?.child(name, startedAt, true);
    let noted: TraceFacts = {};
    return {
      context: span?.context,
      isRecorded: span?.isRecorded === true || this.#write !== undefined,
      note: (facts) => {
        noted = { ...noted, ...facts };
      },
      end: (found, failure) => {
        const at = this.#clock();
        const facts = { ...found, ...noted };
        span?.end(at, facts, failure);
        this.#print("attempt ended", { startedAt, at }, { facts, failure });
      },
    };
  }

  /** Ends the running verb and marks it, and the request, as failed. */
  fail(failure: TraceFailure): void {
    this.#failure = failure;
    this.#leave(this.#clock(), failure);
  }

  /** Ends the request. */
  end(facts: TraceFacts): void {
    const at = this.#clock();
    this.#leave(at);
    this.#root?.end(at, facts, this.#failure);
  }

  #leave(at: number, failure?: TraceFailure): void {
    const verb = this.#verb;
    if (verb === undefined) return;
    const facts = this.#facts;
    this.#span?.end(at, facts, failure);
    this.#print("verb ended", { startedAt: this.#verbAt, at }, { facts: { verb, ...facts }, failure });
    this.#verb = undefined;
    this.#span = undefined;
    this.#facts = {};
  }

  #print(
    event: string,
    { startedAt, at }: { readonly startedAt: number; readonly at: number },
    { facts, failure }: { readonly facts: TraceFacts; readonly failure: TraceFailure | undefined },
  ): void {
    if (!this.#write) return;
    const { prompt: _, answer: __, ...printed } = facts;
    const ms = Math.round((at - startedAt) * 1_000) / 1_000;
    const ids = { request: this.#requestId, traceId: this.#root?.traceId };
    this.#write({ ...ids, ...printed, ms, error: failure?.code }, event);
  }
}

/** One call of an upstream. */
export interface AttemptTrace {
  /** What the call sends on; `undefined` without traces. */
  readonly context: TraceContext | undefined;
  /** Whether its facts go anywhere. */
  readonly isRecorded: boolean;
  /** Adds facts before the end. */
  note(facts: TraceFacts): void;
  /** `prompt` and `answer` are texts, which are never logged. */
  end(facts: TraceFacts, failure?: TraceFailure): void;
}
