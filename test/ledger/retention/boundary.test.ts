import { expect, test } from "bun:test";
import { boundaryOf, JUMP_MAX_MS, lookAtClock, PAUSE_MS } from "../../../src/ledger/retention/job.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.UTC(2026, 5, 15, 12, 30);
const BOUNDS = {
  nowMs: NOW_MS,
  receiptsDays: 30,
  rolledUpToMs: NOW_MS - HOUR_MS,
  unsettledMs: undefined,
  neededFromMs: undefined,
};

test("the boundary is the start of the hour, an hour before the kept days", () =>
  expect(boundaryOf(BOUNDS)).toBe(Date.UTC(2026, 4, 16, 11)));

test.each([
  ["the hours that are summed up", { rolledUpToMs: NOW_MS - 40 * DAY_MS }],
  ["an hour with an open hold", { unsettledMs: NOW_MS - 40 * DAY_MS }],
  ["a receipt that a reader needs", { neededFromMs: NOW_MS - 40 * DAY_MS }],
])("the boundary is never after %s", (_, change) => {
  expect(boundaryOf({ ...BOUNDS, ...change })).toBe(Date.UTC(2026, 4, 6, 12));
});

test("with one day kept, no id that a new hold may have is before the boundary", () =>
  expect(boundaryOf({ ...BOUNDS, receiptsDays: 1 })).toBeLessThan(NOW_MS - DAY_MS));

const NEVER = { seenAtMs: 0, pausedUntilMs: 0 };

test.each([
  ["the first look of a new ledger", NEVER, undefined, 0],
  ["the first look within three days of the newest receipt", NEVER, NOW_MS - JUMP_MAX_MS, 0],
  ["the first look long after the newest receipt", NEVER, NOW_MS - JUMP_MAX_MS - 1, NOW_MS + PAUSE_MS],
  ["a look after three days", { seenAtMs: NOW_MS - JUMP_MAX_MS, pausedUntilMs: 0 }, 0, 0],
  ["a jump ahead", { seenAtMs: NOW_MS - JUMP_MAX_MS - 1, pausedUntilMs: 0 }, 0, NOW_MS + PAUSE_MS],
  ["a look during a pause", { seenAtMs: NOW_MS - HOUR_MS, pausedUntilMs: NOW_MS + 1 }, 0, NOW_MS + 1],
  ["a look after a pause", { seenAtMs: NOW_MS - HOUR_MS, pausedUntilMs: NOW_MS }, 0, 0],
  ["a clock set back", { seenAtMs: NOW_MS + 2 * HOUR_MS, pausedUntilMs: NOW_MS + DAY_MS }, 0, 0],
] as const)("%s sets the end of the pause", (_, before, newestMs, pausedUntilMs) => {
  expect(lookAtClock(before, NOW_MS, newestMs)).toEqual({ seenAtMs: NOW_MS, pausedUntilMs });
});
