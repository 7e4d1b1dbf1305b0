import { expect, test } from "bun:test";
import { createHeartbeats } from "../../src/gateway/heartbeats.ts";
import {
  type ExtendRequest,
  type Ledger,
  LedgerError,
  type LedgerErrorCode,
} from "../../src/ledger/ledger.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { until } from "../support/until.ts";

/** A ledger that declines heartbeats with `state.errorCode`; `beats` are those that it took. */
function beatLedger() {
  const beats: ExtendRequest[] = [];
  const state = { errorCode: undefined as LedgerErrorCode | undefined, refused: 0 };
  const extend = async (request: ExtendRequest) => {
    if (state.errorCode) {
      state.refused += 1;
      throw new LedgerError(state.errorCode);
    }
    beats.push(request);
  };
  // Safe because heartbeats call no other method of the ledger.
  return { ledger: { extend } as unknown as Ledger, state, beats };
}

const hold = (holdId: string) => ({ walletId: "acme", holdId });
const METER = { accrued: () => 7n };

test("an outage of the ledger is logged once, its end once, and heartbeats resume", async () => {
  const { ledger, state, beats } = beatLedger();
  const log = createCapturedLog();
  const heartbeats = createHeartbeats(ledger, 15, log);
  for (const holdId of ["a", "b", "c"]) heartbeats.start(hold(holdId), METER);
  for (const errorCode of ["unavailable", "queue_full"] as const) {
    state.errorCode = errorCode;
    const { refused } = state;
    await until(() => state.refused >= refused + 9);
  }
  state.errorCode = undefined;
  await until(() => beats.length >= 6);
  heartbeats.close();
  const events = log
    .text()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events).toMatchObject([
    { level: "warn", event: "heartbeats failed" },
    { level: "info", event: "heartbeats resumed" },
  ]);
  expect(beats[0]).toEqual({ walletId: "acme", holdId: "a", accrued: 7n, ttlMs: 15 });
});

test("a declined heartbeat is logged with its hold, and not as an outage", async () => {
  const { ledger, state } = beatLedger();
  const log = createCapturedLog();
  const heartbeats = createHeartbeats(ledger, 15, log);
  state.errorCode = "hold_expired";
  heartbeats.start(hold("a"), METER);
  await until(() => state.refused >= 1);
  heartbeats.close();
  expect(JSON.parse(log.text().split("\n")[0] ?? "")).toMatchObject({
    level: "warn",
    request: "a",
    event: "heartbeat declined",
  });
  expect(log.text()).not.toContain("heartbeats failed");
});

test("a heartbeat of a hold that has just ended is not logged", async () => {
  const { ledger, state } = beatLedger();
  const log = createCapturedLog();
  const heartbeats = createHeartbeats(ledger, 15, log);
  heartbeats.start(hold("a"), METER);
  for (const errorCode of ["hold_settled", "hold_released"] as const) {
    state.errorCode = errorCode;
    const { refused } = state;
    await until(() => state.refused > refused + 1);
  }
  heartbeats.close();
  expect(log.text()).toBe("");
});

test("a disposed heartbeat no longer extends its hold", async () => {
  const { ledger, beats } = beatLedger();
  const heartbeats = createHeartbeats(ledger, 15, createCapturedLog());
  const [first] = ["a", "b"].map((holdId) => heartbeats.start(hold(holdId), METER));
  first?.[Symbol.dispose]();
  await until(() => beats.length >= 2);
  heartbeats.close();
  expect(new Set(beats.map(({ holdId }) => holdId))).toEqual(new Set(["b"]));
});
