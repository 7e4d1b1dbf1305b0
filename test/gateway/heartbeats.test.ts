import { expect, test } from "bun:test";
import { createHeartbeats } from "../../src/gateway/heartbeats.ts";
import { type ExtendRequest, type Ledger, LedgerError, type LedgerRefusal } from "../../src/ledger/ledger.ts";
import { createCapturedLog } from "../support/captured-log.ts";

/** A ledger whose heartbeats are refused as told; `beats` are those it took. */
function beatLedger() {
  const beats: ExtendRequest[] = [];
  const state = { refusal: undefined as LedgerRefusal | undefined, refused: 0 };
  const extend = async (request: ExtendRequest) => {
    if (state.refusal) {
      state.refused += 1;
      throw new LedgerError(state.refusal);
    }
    beats.push(request);
  };
  // Safe because heartbeats ask a ledger for nothing else.
  return { ledger: { extend } as unknown as Ledger, state, beats };
}

async function until(happened: () => boolean): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!happened()) {
    if (performance.now() > deadline) throw new Error("It did not happen");
    await Bun.sleep(2);
  }
}

const hold = (holdId: string) => ({ walletId: "acme", holdId, accrued: () => 7n });

test("an outage is said once, its end once, and the beats go on", async () => {
  const { ledger, state, beats } = beatLedger();
  const log = createCapturedLog();
  const heartbeats = createHeartbeats(ledger, 15, log);
  for (const holdId of ["a", "b", "c"]) heartbeats.start(hold(holdId));
  for (const refusal of ["unavailable", "queue_full"] as const) {
    state.refusal = refusal;
    const { refused } = state;
    await until(() => state.refused >= refused + 9);
  }
  state.refusal = undefined;
  await until(() => beats.length >= 6);
  heartbeats.close();
  const events = log
    .text()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    { level: "warn", event: "heartbeats fail" },
    { level: "info", event: "heartbeats go on" },
  ]);
  expect(beats[0]).toEqual({ walletId: "acme", holdId: "a", accrued: 7n, ttlMs: 15 });
});

test("a refusal of one hold is said of that hold, and is no outage", async () => {
  const { ledger, state } = beatLedger();
  const log = createCapturedLog();
  const heartbeats = createHeartbeats(ledger, 15, log);
  state.refusal = "hold_expired";
  heartbeats.start(hold("a"));
  await until(() => state.refused >= 1);
  heartbeats.close();
  expect(JSON.parse(log.text().split("\n")[0] ?? "")).toMatchObject({
    level: "warn",
    request: "a",
    event: "heartbeat refused",
  });
  expect(log.text()).not.toContain("heartbeats fail");
});

test("a hold that has ended meanwhile is no news", async () => {
  const { ledger, state } = beatLedger();
  const log = createCapturedLog();
  const heartbeats = createHeartbeats(ledger, 15, log);
  heartbeats.start(hold("a"));
  for (const refusal of ["hold_settled", "hold_released"] as const) {
    state.refusal = refusal;
    const { refused } = state;
    await until(() => state.refused > refused + 1);
  }
  heartbeats.close();
  expect(log.text()).toBe("");
});
