import { expect, test } from "bun:test";
import { NOTHING, ROWS_MAX, receive } from "../../src/console/pages/requests/live-rows.ts";
import type { RequestRow } from "../../src/console/queries/requests.ts";

/** Rows of the requests with these numbers, the newest first. */
function rowsOf(from: number, to: number): readonly RequestRow[] {
  const ids = Array.from({ length: to - from + 1 }, (_, at) => String(to - at).padStart(6, "0"));
  // Only ids are read.
  return ids.map((id) => ({ id }) as RequestRow);
}

test("a burst that an event has whole is counted, and the list stays short", () => {
  let live = receive(NOTHING, rowsOf(1, 50), 0);
  for (let at = 1; at <= 20; at++)
    live = receive(live, rowsOf(50 + (at - 1) * 100 + 1, 50 + at * 100), at * 100);
  expect(live.rows).toEqual(rowsOf(1_901, 2_050).slice(0, ROWS_MAX));
  expect(live.arrived).toBe(2_000);
  expect(live.readings).toBeGreaterThan(9);
});

test("what no event had is counted, and the rows before the gap are given up", () => {
  const before = receive(NOTHING, rowsOf(1, 50), 0);
  const live = receive(before, rowsOf(901, 1_000), 950);
  expect(live.arrived).toBe(950);
  expect(live.rows).toEqual(rowsOf(901, 1_000));
  expect(live.readings).toBe(1);
});

test("another gateway's count begins anew with its stream", () => {
  const before = receive(receive(NOTHING, rowsOf(1, 50), 5_000), rowsOf(51, 60), 5_010);
  const again = receive({ ...before, count: undefined }, rowsOf(11, 60), 3);
  expect(again.arrived).toBe(0);
  expect(receive(again, rowsOf(61, 61), 4)).toMatchObject({ arrived: 1, readings: 0 });
});

test("a changed row is no new one", () => {
  const before = receive(NOTHING, rowsOf(1, 50), 0);
  expect(receive(before, rowsOf(40, 40), 0)).toMatchObject({ arrived: 0, readings: 0 });
});
