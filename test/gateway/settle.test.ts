import { describe, expect, test } from "bun:test";
import { GatewayError } from "../../src/errors.ts";
import type { Gateway } from "../../src/gateway/gateway.ts";
import { failed, type Outcome } from "../../src/gateway/request.ts";
import { settle } from "../../src/gateway/settle.ts";
import { type Ledger, LedgerError, type LedgerErrorCode } from "../../src/ledger/ledger.ts";
import { createGatewayParts } from "./gateway-parts.ts";
import { createMeteredRequest, type MeteredOptions } from "./held-request.ts";

const FINISHED: Outcome = { kind: "finished", ending: "" };
const EMPTY: Outcome = { kind: "empty" };
const FAILED = failed("upstream_unavailable");
const REVOKED: Outcome = { kind: "revoked", error: new GatewayError("key_revoked"), isSent: true };
const REPORT = { usage: { inputTokens: 10, outputTokens: 3 } };
const ATTEMPTS = [{ upstream: "up", status: 200, ms: 5 }];

/** Settles a metered request; `slotTokens` are those that its slot was settled with. */
async function settleRequest(outcome: Outcome, options: MeteredOptions, parts: Partial<Gateway> = {}) {
  const { gateway, recorded, log } = createGatewayParts({ clock: () => 12.4, ...parts });
  const held = createMeteredRequest(options);
  const slotTokens: number[] = [];
  const slot = { settle: async (tokens: number) => void slotTokens.push(tokens) };
  const bill = await settle(gateway, { held, slot }, { outcome, attempts: ATTEMPTS });
  return { bill, held, recorded, slotTokens, log };
}

/** A ledger that rejects every settlement. */
function failingLedger(errorCode: LedgerErrorCode): Ledger {
  const reject = () => Promise.reject(new LedgerError(errorCode));
  // Safe because a settlement calls no other method of the ledger.
  return { settle: reject, release: reject } as Partial<Ledger> as Ledger;
}

describe("settle()", () => {
  test.each<[name: string, Outcome, MeteredOptions, kind: string, amount: bigint, tokens: number]>([
    ["books the reported usage of a finished answer", FINISHED, REPORT, "settle", 16_000n, 13],
    ["books a finished answer without cost as a settlement of 0", FINISHED, { usage: {} }, "settle", 0n, 0],
    ["releases the hold of an empty answer without a report", EMPTY, {}, "release", 0n, 0],
    ["releases the hold of a failure before any output", FAILED, REPORT, "release", 0n, 0],
    ["books a failure after output", FAILED, { ...REPORT, isCommitted: true }, "settle", 16_000n, 13],
    ["books the input of a request of a revoked key", REVOKED, REPORT, "settle", 10_000n, 10],
  ])("%s", async (_name, outcome, options, kind, amount, tokens) => {
    const { bill, recorded, slotTokens } = await settleRequest(outcome, options);
    expect(recorded.booked).toMatchObject([{ kind, ...(kind === "settle" && { request: { amount } }) }]);
    expect(slotTokens).toEqual([tokens]);
    expect(bill).toMatchObject({ charged: amount, balances: { available: 900n } });
    expect(recorded.stored).toEqual([]);
  });

  test.each<LedgerErrorCode>(["unavailable", "queue_full", "deadline_exceeded", "hold_not_found"])(
    "stores the settlement in the outbox, with what its hold was taken with, when the ledger answers %s",
    async (errorCode) => {
      const { bill, held, recorded, slotTokens } = await settleRequest(FINISHED, REPORT, {
        ledger: failingLedger(errorCode),
      });
      expect(bill).toEqual({ charged: 16_000n, balances: undefined });
      const facts = { surface: "messages", model: held.quote.model.id };
      const taken = { keyId: "k", granted: 0n, ttlMs: 60_000, facts };
      expect(recorded.stored).toMatchObject([{ kind: "settle", request: { amount: 16_000n, taken } }]);
      expect(recorded.settleFailures).toEqual(["stored"]);
      expect(slotTokens).toEqual([13]);
    },
  );

  test("rejects when the ledger declines a settlement for good", async () => {
    const settleFailures: string[] = [];
    const requestMetrics = {
      ended() {},
      settleFailed: (failure: string) => void settleFailures.push(failure),
    };
    const ledger = failingLedger("conflict");
    await expect(settleRequest(FINISHED, REPORT, { ledger, requestMetrics })).rejects.toThrow("conflict");
    expect(settleFailures).toEqual(["declined"]);
  });

  test("counts a settlement that the outbox could not store either", async () => {
    const settleFailures: string[] = [];
    const requestMetrics = {
      ended() {},
      settleFailed: (failure: string) => void settleFailures.push(failure),
    };
    const parts = {
      ledger: failingLedger("unavailable"),
      outbox: { append: () => Promise.reject(new Error("full")) },
      requestMetrics,
    };
    await expect(settleRequest(FINISHED, REPORT, parts)).rejects.toThrow("full");
    expect(settleFailures).toEqual(["lost"]);
  });

  test("leaves the money and the time of the first output to the metrics", async () => {
    const { held } = await settleRequest(FINISHED, { ...REPORT, generated: "hi" });
    expect(held.call.progress.settled).toMatchObject({
      charged: 16_000n,
      usage: { inputTokens: 10, outputTokens: 3 },
    });
    expect(held.call.progress.settled?.granted).toBe(held.hold.granted);
  });

  test("writes the outcome on the receipt", async () => {
    const { recorded, held } = await settleRequest(FINISHED, REPORT);
    expect(recorded.booked[0]?.request).toMatchObject({
      walletId: "w",
      holdId: held.call.id,
      facts: {
        outcome: "ok",
        source: "reported",
        upstream: "up",
        upstreamModel: "theirs",
        usage: { inputTokens: 10, outputTokens: 3 },
        totalMs: 12,
        attempts: ATTEMPTS,
      },
    });
  });

  test.each<[name: string, usage: MeteredOptions["usage"], aboveBound: readonly string[]]>([
    ["a usage within the bound is not logged", { inputTokens: 10_000 }, []],
    ["input above the bound is counted and logged", { inputTokens: 10_001 }, ["up input"]],
    ["output above the bound is counted and logged", { outputTokens: 1_101 }, ["up output"]],
    ["both are counted", { inputTokens: 10_001, outputTokens: 1_101 }, ["up input", "up output"]],
  ])("%s", async (_name, usage, aboveBound) => {
    const { recorded, held, log } = await settleRequest(FINISHED, { usage });
    expect(recorded.aboveBound).toEqual([...aboveBound]);
    expect(held.call.record.aboveBound).toBe(aboveBound.length > 0 ? true : undefined);
    expect(log.text().includes("usage above bound")).toBe(aboveBound.length > 0);
  });
});
