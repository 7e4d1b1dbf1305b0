import { type Bodies, createBodies } from "../../src/bodies/bodies.ts";
import { createCooperativeYield } from "../../src/bodies/cooperative-yield.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import type { Reply } from "../../src/gateway/request.ts";
import type { Ledger, Settlement } from "../../src/ledger/ledger.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { SharedTimer } from "../../src/platform.ts";
import type { OutboxEntry } from "../../src/settlement-outbox/entry.ts";
import type { TokenCounter } from "../../src/tokens/count-tokens.ts";
import { createCapturedLog } from "../support/captured-log.ts";

/** Balances of every settlement of the recorded ledger. */
const BALANCES = { posted: 900n, held: 0n, available: 900n };

/** What the parts of a gateway were asked to do. */
interface Recorded {
  /** Settlements and releases that reached the ledger, or the outbox. */
  readonly booked: OutboxEntry[];
  readonly stored: OutboxEntry[];
  /** "upstream outcome" of each attempt. */
  readonly attempted: string[];
  readonly aboveBound: string[];
  readonly settleFailures: string[];
  /** Calls that are running now. */
  running: number;
}

/** Counts 30 tokens of any prompt and 4 of any output. */
const FIXED_COUNTER: TokenCounter = {
  hurry() {},
  close() {},
  async count({ input, output }) {
    return { inputTokens: input === "" ? 0 : 30, outputTokens: output === "" ? 0 : 4 };
  },
};

/** A gateway whose parts only record; `over` replaces parts. */
export function createGatewayParts(over: Partial<Gateway> = {}) {
  const log = createCapturedLog();
  const clock = over.clock ?? (() => performance.now());
  const cooperativeYield = createCooperativeYield();
  const bodies: Bodies = createBodies(cooperativeYield);
  const recorded: Recorded = {
    booked: [],
    stored: [],
    attempted: [],
    aboveBound: [],
    settleFailures: [],
    running: 0,
  };
  const gateway: Gateway = {
    catalog: createCatalog([]),
    upstreams: new Map(),
    keyLimits: {},
    accountLimits: {},
    clientDisconnect: "charge_input",
    tracing: undefined,
    authenticate: () => Promise.reject(new Error("No request is authenticated here")),
    keys: {
      makeChild: () => Promise.reject(new Error("No key is made here")),
      nameScopes: async () => [],
    },
    isOnePerson: () => Promise.reject(new Error("No accounts are compared here")),
    limiter: notCalled<Limiter>("limiter"),
    ledger: recordingLedger(recorded),
    outbox: { append: async (entry) => void recorded.stored.push(entry) },
    tokens: FIXED_COUNTER,
    bodies,
    cooperativeYield,
    heartbeats: notCalled("heartbeats"),
    callers: notCalled("callers"),
    declines: notCalled("declines"),
    refusals: notCalled("refusals"),
    attribution: notCalled("attribution"),
    runs: notCalled("runs"),
    holdHealth: notCalled("holdHealth"),
    holdTtlMs: 60_000,
    files: { max: undefined, room: () => Number.POSITIVE_INFINITY },
    clock,
    timer: new SharedTimer(clock),
    log,
    metrics: {
      attempted: (upstream, outcome) => void recorded.attempted.push(`${upstream} ${outcome}`),
      circuit() {},
      keyCircuit() {},
      running: (_, change) => {
        recorded.running += change;
      },
      aboveBound: (upstream, kind) => void recorded.aboveBound.push(`${upstream} ${kind}`),
    },
    routeHours: { ended() {} },
    requestMetrics: {
      ended() {},
      settleFailed: (failure) => void recorded.settleFailures.push(failure),
    },
    shutdown: new AbortController().signal,
    ...over,
  };
  return { gateway, recorded, log };
}

function recordingLedger({ booked }: Recorded): Ledger {
  const end = async (entry: OutboxEntry, captured: bigint): Promise<Settlement> => {
    booked.push(entry);
    return {
      state: entry.kind === "settle" ? "settled" : "released",
      captured,
      balances: BALANCES,
      replayed: false,
    };
  };
  // Safe because a settlement calls no other method of the ledger.
  return {
    settle: (request) => end({ kind: "settle", request }, request.amount),
    release: (request) => end({ kind: "release", request }, 0n),
  } as Partial<Ledger> as Ledger;
}

/** A part that the tested verb does not use. */
function notCalled<Part extends object>(name: string): Part {
  // Safe because every use of the part throws.
  return new Proxy({} as Part, {
    get() {
      throw new Error(`The ${name} must not be used`);
    },
  });
}

/** A reply that keeps what the client would get. */
export function createRecordedReply(over: Partial<Reply> = {}) {
  const client = new AbortController();
  const sent = {
    headers: {} as Record<string, string>,
    chunks: [] as string[],
    end: undefined as string | undefined,
  };
  const reply: Reply = {
    signal: client.signal,
    setHeaders: (headers) => void Object.assign(sent.headers, headers),
    expectStream() {},
    beginStream() {},
    write: (text) => void sent.chunks.push(text),
    end: (text) => {
      sent.end = text;
    },
    ...over,
  };
  return { reply, sent, disconnect: () => client.abort() };
}
