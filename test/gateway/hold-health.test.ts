import { expect, test } from "bun:test";
import { createHoldHealth } from "../../src/gateway/hold-health.ts";
import { newRequestId } from "../../src/http/identity.ts";
import { type Ledger, LedgerError, type LedgerErrorCode } from "../../src/ledger/ledger.ts";
import { createCapturedLog } from "../support/captured-log.ts";

/** A ledger that records the calls of probes, and declines holds with `state.errorCode`. */
function probedLedger() {
  const state = {
    errorCode: undefined as LedgerErrorCode | undefined,
    hasWallet: false,
    asked: [] as string[],
  };
  const ledger = {
    async hold() {
      state.asked.push("hold");
      await Bun.sleep(1);
      if (state.errorCode) throw new LedgerError(state.errorCode);
      if (!state.hasWallet) throw new LedgerError("wallet_not_found");
    },
    async createWallet() {
      state.asked.push("create");
      state.hasWallet = true;
    },
    async release() {
      state.asked.push("release");
      throw new LedgerError("unavailable");
    },
  };
  const log = createCapturedLog();
  // Safe because the health of holds calls no other method of the ledger.
  const health = createHoldHealth({ ledger: ledger as unknown as Ledger, log, newId: newRequestId });
  const isGood = () =>
    health.check().then(
      () => true,
      () => false,
    );
  const fail = (times: number) => {
    for (let left = times; left > 0; left -= 1) health.failed(new LedgerError("unavailable"));
  };
  return { state, health, isGood, fail, log };
}

test("two faults in a row, or three with a success between them, cause no probe", async () => {
  const { state, health, isGood, fail } = probedLedger();
  fail(2);
  expect(await isGood()).toBe(true);
  health.taken();
  fail(2);
  expect(await isGood()).toBe(true);
  expect(state.asked).toEqual([]);
});

test("after three faults the check fails with its probe, and passes with the first probe that succeeds", async () => {
  const { state, isGood, fail, log } = probedLedger();
  state.errorCode = "unavailable";
  fail(3);
  expect([await isGood(), await isGood()]).toEqual([false, false]);
  state.errorCode = undefined;
  expect(await isGood()).toBe(true);
  expect(state.asked).toEqual(["hold", "hold", "hold", "create", "hold", "release"]);
  expect(await isGood()).toBe(true);
  expect(state.asked).toHaveLength(6);
  expect(
    log
      .text()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toMatchObject([
    { level: "error", event: "holds fail", code: "unavailable" },
    { level: "info", event: "holds succeed again" },
  ]);
});

test("a hold that succeeds makes the check pass without a probe", async () => {
  const { state, health, isGood, fail } = probedLedger();
  fail(5);
  health.taken();
  expect(await isGood()).toBe(true);
  expect(state.asked).toEqual([]);
});

test("fifty checks at a time share one probe and its result", async () => {
  const { state, isGood, fail } = probedLedger();
  state.errorCode = "unavailable";
  fail(3);
  expect(new Set(await Promise.all(Array.from({ length: 50 }, isGood)))).toEqual(new Set([false]));
  expect(state.asked).toEqual(["hold"]);
});
