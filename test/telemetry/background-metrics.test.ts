import { expect, test } from "bun:test";
import type { BackgroundState } from "../../src/telemetry/background-metrics.ts";
import { createMetrics } from "../../src/telemetry/metrics.ts";
import { readSamples } from "./samples.ts";

const EMPTY = { entries: 0, oldestAtMs: undefined };

/** The gauges of the background of one scrape, by series. */
async function scrape(state: BackgroundState): Promise<Record<string, number>> {
  const metrics = createMetrics();
  metrics.watchBackground(async () => state);
  const samples = readSamples(await metrics.print());
  return Object.fromEntries(
    [...samples].filter(([name]) =>
      /^tollgate_(outbox|usage_(roll|stale)|ledger_(open|held|oldest))/.test(name),
    ),
  );
}

test("outboxes and roll-ups are gauges, and an empty outbox is 0", async () => {
  const hourAgo = Date.now() - 3_600_000;
  const shown = await scrape({
    outboxes: { mail: { entries: 3, oldestAtMs: hourAgo }, webhook: EMPTY, settlement: EMPTY },
    rollUps: { closedToMs: hourAgo, staleHours: 2 },
    holds: { count: 4, granted: 1_500_000_000n, oldestAtMs: hourAgo },
  });
  expect(shown).toMatchObject({
    'tollgate_outbox_entries{outbox="mail"}': 3,
    'tollgate_outbox_entries{outbox="webhook"}': 0,
    'tollgate_outbox_entries{outbox="settlement"}': 0,
    'tollgate_outbox_oldest_seconds{outbox="webhook"}': 0,
    tollgate_usage_stale_hours: 2,
    tollgate_ledger_open_holds: 4,
    tollgate_ledger_held_usd: 1.5,
  });
  expect(shown.tollgate_ledger_oldest_hold_seconds).toBeGreaterThanOrEqual(3_600);
  expect(shown['tollgate_outbox_oldest_seconds{outbox="mail"}']).toBeGreaterThanOrEqual(3_600);
  expect(shown.tollgate_usage_roll_up_lag_seconds).toBeGreaterThanOrEqual(3_600);
  expect(Object.keys(shown)).toHaveLength(11);
});

test("what cannot be read has no series, and a clock that was set back gives no negative age", async () => {
  const ahead = Date.now() + 86_400_000;
  const shown = await scrape({
    outboxes: { mail: undefined, webhook: { entries: 1, oldestAtMs: ahead }, settlement: EMPTY },
    rollUps: undefined,
    holds: undefined,
  });
  expect(shown).toEqual({
    'tollgate_outbox_entries{outbox="webhook"}': 1,
    'tollgate_outbox_entries{outbox="settlement"}': 0,
    'tollgate_outbox_oldest_seconds{outbox="webhook"}': 0,
    'tollgate_outbox_oldest_seconds{outbox="settlement"}': 0,
  });
});

test("a ledger without open holds has none for 0 seconds", async () => {
  const holds = { count: 0, granted: 0n, oldestAtMs: undefined };
  const outboxes = { mail: undefined, webhook: undefined, settlement: undefined };
  expect(await scrape({ outboxes, rollUps: undefined, holds })).toEqual({
    tollgate_ledger_open_holds: 0,
    tollgate_ledger_held_usd: 0,
    tollgate_ledger_oldest_hold_seconds: 0,
  });
});

test("one scrape reads once", async () => {
  const metrics = createMetrics();
  let reads = 0;
  metrics.watchBackground(async () => {
    reads += 1;
    await Bun.sleep(1);
    return {
      outboxes: { mail: EMPTY, webhook: EMPTY, settlement: EMPTY },
      rollUps: undefined,
      holds: undefined,
    };
  });
  await metrics.print();
  await metrics.print();
  expect(reads).toBe(2);
});

test("an export has its lag from the database, and its counters from this process", async () => {
  const metrics = createMetrics();
  const state: BackgroundState = {
    outboxes: { mail: EMPTY, webhook: EMPTY, settlement: EMPTY },
    rollUps: undefined,
    holds: undefined,
    exports: {
      backlogs: [
        { name: "warehouse", oldestAtMs: undefined },
        { name: "forgotten", oldestAtMs: Date.now() - 60_000 },
      ],
      counts: new Map([["warehouse", { lines: 7, failures: 2 }]]),
    },
  };
  metrics.watchBackground(async () => state);
  const samples = readSamples(await metrics.print());
  const shown = Object.fromEntries([...samples].filter(([name]) => name.startsWith("tollgate_export")));
  expect(shown).toMatchObject({
    'tollgate_export_lag_seconds{export="warehouse"}': 0,
    'tollgate_export_lines_total{export="warehouse"}': 7,
    'tollgate_export_failures_total{export="warehouse"}': 2,
  });
  expect(shown['tollgate_export_lag_seconds{export="forgotten"}']).toBeGreaterThanOrEqual(60);
  expect(Object.keys(shown)).toHaveLength(4);
});
