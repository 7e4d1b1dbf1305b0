import { expect, test } from "bun:test";
import { createHoldHealth } from "../../src/gateway/hold-health.ts";
import { newRequestId } from "../../src/http/request-id.ts";
import { type Ledger, LedgerError, type LedgerRefusal } from "../../src/ledger/ledger.ts";
import { createCapturedLog } from "../support/captured-log.ts";

/** A ledger that counts what probes ask of it, and refuses holds while told to. */
function probedLedger() {
  const state = { refusal: undefined as LedgerRefusal | undefined, hasWallet: false, asked: [] as string[] };
  const ledger = {
    async hold() {
      state.asked.push("hold");
      await Bun.sleep(1);
      if (state.refusal) throw new LedgerError(state.refusal);
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
  // Safe because the health of holds asks a ledger for nothing else.
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

test("two faults in a row, or three with a success between them, are looked into by nobody", async () => {
  const { state, health, isGood, fail } = probedLedger();
  fail(2);
  expect(await isGood()).toBe(true);
  health.taken();
  fail(2);
  expect(await isGood()).toBe(true);
  expect(state.asked).toEqual([]);
});

test("three faults in a row are red while a hold of nothing fails too, and green with the first that succeeds", async () => {
  const { state, isGood, fail, log } = probedLedger();
  state.refusal = "unavailable";
  fail(3);
  expect([await isGood(), await isGood()]).toEqual([false, false]);
  state.refusal = undefined;
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

test("a request whose hold is taken ends the doubt without a probe", async () => {
  const { state, health, isGood, fail } = probedLedger();
  fail(5);
  health.taken();
  expect(await isGood()).toBe(true);
  expect(state.asked).toEqual([]);
});

test("many who ask at once cost one probe, and each of them hears how it went", async () => {
  const { state, isGood, fail } = probedLedger();
  state.refusal = "unavailable";
  fail(3);
  expect(new Set(await Promise.all(Array.from({ length: 50 }, isGood)))).toEqual(new Set([false]));
  expect(state.asked).toEqual(["hold"]);
});
