import { describe, expect, test } from "bun:test";
import { createCatalog } from "../../src/catalog/catalog.ts";
import { createDeclineMemory } from "../../src/gateway/decline.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { runRequest } from "../../src/gateway/run-request.ts";
import { type HoldGrant, type Ledger, LedgerError, type LedgerErrorCode } from "../../src/ledger/ledger.ts";
import type { Admission, LimitDecline, Limiter, LimitUsage } from "../../src/limiter/limiter.ts";
import type { UpstreamKey } from "../../src/upstream/upstream.ts";
import { scriptedModel, scriptedRoute } from "../support/test-catalog.ts";
import { createUpstream } from "./candidates.ts";
import { createGatewayParts, createRecordedReply } from "./gateway-parts.ts";
import { createCall, LASTING_CALLER, TEST_CALLER } from "./held-request.ts";
import { answersStatus, answersWhole, STREAM, streamed } from "./upstream-answers.ts";

const BALANCES = { posted: 0n, held: 0n, available: 0n };
const WINDOW = { limit: 100, remaining: 7, resetMs: 1_000 };
const SHORTFALL = { needed: 2_000n, available: 1_000n, unheld: 1_000n };

interface StoryOptions {
  readonly stream?: boolean;
  readonly send?: UpstreamKey["send"];
  /** The error of the hold. */
  readonly hold?: LedgerError;
  /** The error of the settlement. */
  readonly settle?: LedgerErrorCode;
  readonly isOutboxFull?: boolean;
  readonly declinedBy?: LimitDecline["bound"];
  readonly tokensPerMinute?: number;
}

/** Runs one request; `ends` are how its slot, its heartbeat and the watch of its caller ended. */
async function run(options: StoryOptions) {
  const { stream = false, send = answersWhole, tokensPerMinute } = options;
  const ends: string[] = [];
  const disposable = (name: string) => ({ [Symbol.dispose]: () => void ends.push(name) });
  const { gateway: parts, recorded } = createGatewayParts();
  const upstream = createUpstream("up", { surfacesOf: () => ["messages"], send });
  const routes = [scriptedRoute("up", "theirs")];
  const gateway: Gateway = {
    ...parts,
    catalog: createCatalog([scriptedModel("m", "anthropic", { routes })]),
    upstreams: new Map([["up", upstream]]),
    accountLimits: { tokensPerMinute },
    authenticate: async () => TEST_CALLER,
    limiter: recordingLimiter(ends, options),
    ledger: ledgerOf(parts.ledger, options),
    outbox: options.isOutboxFull ? { append: () => Promise.reject(new Error("full")) } : parts.outbox,
    heartbeats: { start: () => disposable("heartbeat"), close() {} },
    callers: { start: () => ({ ...LASTING_CALLER, ...disposable("caller") }), close() {} },
    declines: createDeclineMemory(parts.clock),
    holdHealth: { taken() {}, failed() {}, check: () => Promise.resolve() },
  };
  const messages = [{ role: "user", content: "hi" }];
  const text = JSON.stringify({ model: "m", max_tokens: 100, stream, messages });
  const call = {
    ...createCall(),
    startedAt: gateway.clock(),
    readBody: async () => [new TextEncoder().encode(text)],
  };
  let bookedAtEnd = 0;
  const { reply, sent } = createRecordedReply({
    end: () => {
      bookedAtEnd = recorded.booked.length;
    },
  });
  const thrown = await runRequest(gateway, call, reply).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { ends, recorded, bookedAtEnd, sent, thrown, record: call.record };
}

/** Admits every request unless told otherwise, and records the first end of its slot. */
function recordingLimiter(ends: string[], { declinedBy }: StoryOptions): Limiter {
  const state = { requests: WINDOW, tokens: undefined };
  let isEnded = false;
  const end = async (how: string) => {
    if (!isEnded) ends.push(how);
    isEnded = true;
  };
  const admission: Admission = {
    admitted: true,
    state,
    settle: (tokens) => end(`slot settled with ${tokens}`),
    cancel: () => end("slot cancelled"),
    [Symbol.asyncDispose]: () => end("slot settled with 0"),
  };
  const usage: LimitUsage = {
    ...state,
    requests: { ...WINDOW, remaining: 8 },
    running: 0,
    accountRunning: 0,
  };
  return {
    admit: async () =>
      declinedBy ? { admitted: false, bound: declinedBy, retryAfterS: 3, state } : admission,
    usage: async () => usage,
    status: async () => ({ backend: "memory", mode: "local" }),
    close() {},
  };
}

function ledgerOf(recording: Ledger, { hold, settle }: StoryOptions): Ledger {
  const grant = async (granted: bigint): Promise<HoldGrant> => {
    if (hold) throw hold;
    return { granted, balances: BALANCES, replayed: false };
  };
  const reject = settle && (() => Promise.reject(new LedgerError(settle)));
  return {
    ...recording,
    hold: ({ amount }) => grant(amount),
    settle: reject ?? recording.settle,
    release: reject ?? recording.release,
  };
}

const SETTLED = ["slot settled with 13", "caller", "heartbeat"];
const FREE = ["slot settled with 0", "caller", "heartbeat"];

describe("runRequest() ends each resource once", () => {
  test.each<[name: string, options: StoryOptions, ends: readonly string[], error: string | undefined]>([
    ["for a whole answer", {}, SETTLED, undefined],
    ["for a streamed answer", { stream: true, send: async () => streamed(STREAM) }, SETTLED, undefined],
    ["when the upstream fails", { send: answersStatus(500) }, FREE, "upstream_unavailable"],
    ["when the ledger is away at the settlement", { settle: "unavailable" }, SETTLED, undefined],
    ["when the outbox is full as well", { settle: "unavailable", isOutboxFull: true }, SETTLED, "full"],
    ["when the ledger declines the settlement", { settle: "conflict" }, SETTLED, "conflict"],
    [
      "when the hold is declined",
      { hold: new LedgerError("insufficient_balance", undefined, SHORTFALL) },
      ["slot cancelled"],
      "wallet_empty",
    ],
    [
      "when the wallet is frozen",
      { hold: new LedgerError("wallet_frozen") },
      ["slot cancelled"],
      "account_suspended",
    ],
    [
      "when the ledger is away at the hold",
      { hold: new LedgerError("unavailable") },
      ["slot settled with 0"],
      "unavailable",
    ],
    ["when the limiter declines", { declinedBy: "rate" }, [], "rate_limited"],
    ["when a slot is missing", { declinedBy: "concurrency" }, [], "too_concurrent"],
    ["when no minute admits the request", { tokensPerMinute: 50 }, [], "too_many_tokens"],
  ])("%s", async (_name, options, ends, error) => {
    const story = await run(options);
    expect(story.ends).toEqual([...ends]);
    expect(story.thrown instanceof Error ? story.thrown.message : story.thrown).toBe(error);
  });
});

test("a declined hold is reported with its amounts and the limits after the cancelled admission", async () => {
  const { sent, recorded } = await run({
    hold: new LedgerError("insufficient_balance", undefined, SHORTFALL),
  });
  expect(sent.headers).toMatchObject({
    "x-tollgate-needed-usd": "0.000002",
    "x-tollgate-available-usd": "0.000001",
    "anthropic-ratelimit-requests-remaining": "8",
  });
  expect([recorded.booked, recorded.stored, recorded.attempted]).toEqual([[], [], []]);
});

test("a hold in doubt is released through the outbox", async () => {
  const { recorded } = await run({ hold: new LedgerError("unavailable") });
  expect(recorded.stored).toMatchObject([
    { request: { walletId: "acme", facts: { outcome: "internal_error", source: "none" } } },
  ]);
});

test("the settlement is booked before the end of the answer is sent", async () => {
  const { recorded, bookedAtEnd, record } = await run({});
  expect(recorded.booked).toMatchObject([{ kind: "settle", request: { amount: 16_000n } }]);
  expect(bookedAtEnd).toBe(1);
  expect(record).toMatchObject({ keyId: "k", accountId: "acme", model: "m", upstream: "up", outcome: "ok" });
});
