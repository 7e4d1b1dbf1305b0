import { expect } from "bun:test";
import { printUsd } from "../../../src/domain/money.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { ERRORS } from "../../../src/errors.ts";
import { post } from "../../support/client.ts";
import { expectError, expectRequestIds } from "../../support/expect-error.ts";
import type { TestGateway } from "../../support/test-gateway.ts";
import {
  type ClientView,
  emptyDraft,
  readStreamedChat,
  readStreamedMessage,
  readWholeChat,
  readWholeMessage,
} from "./client-view.ts";
import type { Expected } from "./fault.ts";
import type { FaultCase, FaultEnv } from "./fault-env.ts";
import { secrets } from "./fault-scripts.ts";
import { answers, expectationOf, outcomeCode } from "./outcomes.ts";

/** A request and its result. */
interface Played {
  readonly faultCase: FaultCase;
  readonly response: Response;
  /** The complete body. */
  readonly body: string;
  readonly ms: number;
  readonly payer: { readonly accountId: string; readonly secret: string };
  /** The expectation for the first route. */
  readonly first: Expected;
  /** The expectation for the client: that of the second route if it answered. */
  readonly last: Expected;
}

/** Sends one request into a fault and checks everything that follows. */
export async function playCase(env: FaultEnv, faultCase: FaultCase): Promise<void> {
  const { gateway } = env;
  const { secret, key } = await gateway.newPayer("1", { limits: { concurrentRequests: 1 } });
  const startedAt = performance.now();
  const response = await post(gateway, faultCase.surface, {
    secret,
    model: faultCase.id,
    stream: faultCase.mode === "stream",
  });
  const body = await response.text();
  const ms = performance.now() - startedAt;
  const first = expectationOf(faultCase.scenario.expected, faultCase);
  const last = first.failsOver && faultCase.routes === 2 ? expectationOf(RESCUED, faultCase) : first;
  const played = { faultCase, response, body, ms, payer: { accountId: key.accountId, secret }, first, last };

  await expectResponse(played);
  await expectLedger(gateway, played);
  await expectAttempts(gateway, played);
  await expectFree(env, played);
}

/** The answer of the second route, whose text differs from that of the first. */
const RESCUED = answers({ text: "Hello there, friend." }, { source: "reported", input: 11, output: 7 });

/** Checks that the key's only slot is free, nothing is held, and the next request succeeds. */
async function expectFree({ gateway }: FaultEnv, { faultCase, payer }: Played): Promise<void> {
  const { accountId, secret } = payer;
  expect((await gateway.balances(accountId)).held).toBe(0n);
  const key = await fetch(`${gateway.url}/v1/key`, { headers: { "x-api-key": secret } });
  expect(await key.json()).toMatchObject({ concurrent_requests: { limit: 1, used: 0 } });
  const next = await post(gateway, faultCase.surface, { secret });
  expect(next.status).toBe(200);
  secrets.expectNone(await next.text());
}

const READERS = {
  chat: { whole: readWholeChat, stream: readStreamedChat },
  messages: { whole: readWholeMessage, stream: readStreamedMessage },
};

const CONTENT_TYPES = { whole: "application/json", stream: "text/event-stream; charset=utf-8" };

/** Every header that the gateway may send here. None comes from an upstream. */
const HEADERS = new Set([
  "cache-control",
  "connection",
  "content-length",
  "content-type",
  "date",
  "request-id",
  // Computed by the gateway; expectError checks its range.
  "retry-after",
  "transfer-encoding",
  "x-accel-buffering",
  "x-request-id",
  "x-should-retry",
  "x-tollgate-balance-usd",
  "x-tollgate-cost-usd",
  "x-tollgate-max-tokens",
]);

/** Checks the status, the headers and every byte of the response. */
async function expectResponse(played: Played): Promise<void> {
  const { response, body, last, faultCase } = played;
  const headers = [...response.headers];
  expect(headers.map(([name]) => name).filter((name) => !HEADERS.has(name))).toEqual([]);
  secrets.expectNone(JSON.stringify(headers) + body);
  if (last.shown) expectShown(played, last.shown);
  else if (last.cause) {
    const { status } = response;
    const more = last.message === undefined ? {} : { message: last.message };
    await expectError(
      new Response(body, { status, headers: response.headers }),
      faultCase.surface,
      last.cause,
      more,
    );
  }
}

function expectShown({ response, body, last, faultCase }: Played, shown: Partial<ClientView>): void {
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe(CONTENT_TYPES[faultCase.mode]);
  expect(response.headers.get("x-should-retry")).toBeNull();
  expect(response.headers.get("retry-after")).toBeNull();
  const requestId = expectRequestIds(response);
  const view = READERS[faultCase.surface.name][faultCase.mode](body, faultCase.id);
  const error = last.cause && errorFrame(faultCase.surface.name, last.cause, requestId);
  expect(view).toEqual({ ...emptyDraft(), ...shown, error });
}

function errorFrame(surface: "chat" | "messages", cause: keyof typeof ERRORS, requestId: string) {
  const row = ERRORS[cause];
  const { message, code } = row;
  const type = row[surface][1];
  if (surface === "chat") return { error: { message, type, code } };
  return {
    type: "error",
    error: { type, message, details: { error_code: code } },
    request_id: requestId,
  };
}

const SEED = 1_000_000_000n;

/** Checks the charge, the receipt and the change of the wallet. */
async function expectLedger(gateway: TestGateway, played: Played): Promise<void> {
  const { response, payer, last, faultCase } = played;
  const receipt = await gateway.receiptOf(response, payer.accountId);
  const { charge } = last;
  const isRescued = last !== played.first;
  const captured = costOf(played, isRescued ? 10n : 1n);
  expect(receipt).toMatchObject({
    state: charge ? "settled" : "released",
    late: false,
    captured,
    request: { surface: faultCase.surface.name, model: faultCase.id },
    outcome: {
      outcome: outcomeCode(last),
      source: charge?.source ?? "none",
      upstream: isRescued ? faultCase.secondUpstream : faultCase.id,
      upstreamModel: isRescued ? `${faultCase.id}.second` : faultCase.id,
    },
  });
  expect(receipt.outcome?.usage).toEqual(
    charge && { ...NO_USAGE, inputTokens: charge.input, outputTokens: charge.output },
  );
  const balances = await gateway.balances(payer.accountId);
  expect(balances).toEqual({ posted: SEED - captured, held: 0n, available: SEED - captured });
  expectCostHeaders(played, captured);
}

/** Nano-USD: 1,000 per input token, 2,000 per output token. */
function costOf({ last: { charge } }: Played, factor: bigint): bigint {
  return charge ? (BigInt(charge.input) * 1_000n + BigInt(charge.output) * 2_000n) * factor : 0n;
}

/** Headers report the cost whenever they are sent after the settlement: not for an open stream. */
function expectCostHeaders({ response, faultCase, last }: Played, captured: bigint): void {
  const isOpenStream = faultCase.mode === "stream" && last.shown !== undefined;
  const costHeaders = {
    cost: response.headers.get("x-tollgate-cost-usd"),
    balance: response.headers.get("x-tollgate-balance-usd"),
  };
  expect(costHeaders).toEqual(
    isOpenStream
      ? { cost: null, balance: null }
      : { cost: printUsd(captured), balance: printUsd(SEED - captured) },
  );
}

/** Two clocks are compared, and timers may fire a millisecond early. */
const GRAIN_MS = 3;

/** Checks every attempt on the receipt, at the upstream and in the log. */
async function expectAttempts(gateway: TestGateway, played: Played): Promise<void> {
  await expectReceipt(gateway, played);
  await expectCalls(gateway, played);
  expectLog(gateway, played);
}

async function expectReceipt(gateway: TestGateway, played: Played): Promise<void> {
  const { response, payer, faultCase, first, last, ms } = played;
  const { outcome } = await gateway.receiptOf(response, payer.accountId);
  const attempts = outcome?.attempts ?? [];
  const rescue = {
    upstream: faultCase.secondUpstream,
    reason: "failover",
    status: 200,
    ms: expect.any(Number),
  };
  // The only route of a request needs no reason.
  const reason = faultCase.routes === 2 ? "priority" : undefined;
  expect(attempts).toEqual([
    {
      upstream: faultCase.id,
      reason,
      status: first.status,
      ms: expect.any(Number),
      report: last.charge?.report,
    },
    ...(last === first ? [] : [rescue]),
  ]);
  expect(attempts[0]?.ms).toBeWithin(Math.max(0, first.takesMs - GRAIN_MS), ms + GRAIN_MS);
  expect(attempts.reduce((sum, attempt) => sum + attempt.ms, 0)).toBeLessThan(ms + GRAIN_MS);
}

/** Checks that the upstream got the calls, and that none is still running. */
async function expectCalls({ upstream }: TestGateway, { faultCase, first, last }: Played): Promise<void> {
  const { at, isCut } = faultCase.scenario;
  const seen = upstream.seen.filter(({ model }) => model === faultCase.id);
  expect(seen).toHaveLength(at ? 0 : 1);
  expect(upstream.seen.filter(({ model }) => model === `${faultCase.id}.second`)).toHaveLength(
    last === first ? 0 : 1,
  );
  const over = Promise.all(seen.map((call) => call.over)).then(() => "over");
  expect(await Promise.race([over, Bun.sleep(120_000)])).toBe("over");
  if (isCut) expect(seen.map(({ disconnectedAtMs }) => disconnectedAtMs)).not.toContain(undefined);
}

/** Checks the log: one line for the failed attempt with its cause, and one for the request. */
function expectLog({ log }: TestGateway, { response, faultCase, first, last }: Played): void {
  const lines = log.about(response.headers.get("x-request-id") ?? "");
  secrets.expectNone(JSON.stringify(lines));
  const failures = lines.filter(({ event }) => event === "attempt failed");
  expect(failures).toHaveLength(first.logged ? 1 : 0);
  for (const failure of failures) {
    const { logged: cause, status } = first;
    expect(failure).toMatchObject({ upstream: faultCase.id, cause, status });
    // A status or a special cause explains the failure. All others log the timeout or the fault.
    const isSaid = (status !== 0 && status !== 200) || cause === "answer_too_large";
    if (!isSaid) expect(failure.timeout ?? failure.fault).toBeString();
  }
  expect(lines.filter(({ event }) => event === "request")).toMatchObject([
    {
      surface: faultCase.surface.name,
      model: faultCase.id,
      upstream: last === first ? faultCase.id : faultCase.secondUpstream,
      attempts: last === first ? 1 : 2,
      outcome: outcomeCode(last),
    },
  ]);
}
