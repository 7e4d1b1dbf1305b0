import type { Registry } from "prom-client";
import type { PromClient } from "./upstream-metrics.ts";

/** What waits in an outbox. */
export interface Backlog {
  readonly entries: number;
  /** When the entry that waits longest was written; `undefined` without one. */
  readonly oldestAtMs: number | undefined;
}

/** The state of the work in the background. A part that cannot be read is `undefined`. */
export interface BackgroundState {
  readonly outboxes: Readonly<Record<OutboxName, Backlog | undefined>>;
  readonly rollUps: { readonly closedToMs: number; readonly staleHours: number } | undefined;
}

type OutboxName = "mail" | "webhook" | "settlement";

/** Reads the state for one scrape, within a bounded time. Must not reject. */
export type ReadBackground = () => Promise<BackgroundState>;

interface Gauge {
  reset(): void;
  remove(): void;
  set(value: number): void;
  set(labels: { readonly outbox: OutboxName }, value: number): void;
}

/** Registers the gauges of the work in the background. A part that cannot be read has no series. */
export function registerBackground(
  client: PromClient,
  registry: Registry,
  { read, now }: { readonly read: ReadBackground; readonly now: () => number },
): void {
  let reading: Promise<BackgroundState> | undefined;
  // All gauges of one scrape are collected at once, and share its reading.
  const readOnce = () => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const gauge = (
    { name, help, labelNames = [] }: { name: string; help: string; labelNames?: string[] },
    show: (gauge: Gauge, state: BackgroundState) => void,
  ) =>
    new client.Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const state = await readOnce();
        this.reset();
        // A gauge without labels would show 0 for what cannot be read.
        if (labelNames.length === 0) this.remove();
        show(this, state);
      },
    });
  registerOutboxes(gauge, now);
  registerRollUps(gauge, now);
}

type NewGauge = (
  naming: { name: string; help: string; labelNames?: string[] },
  show: (gauge: Gauge, state: BackgroundState) => void,
) => void;

function registerOutboxes(gauge: NewGauge, now: () => number): void {
  const labelNames = ["outbox"];
  const readable = ({ outboxes }: BackgroundState) => {
    // Safe because the record has these names alone.
    const names = Object.keys(outboxes) as OutboxName[];
    return names.flatMap((outbox) => {
      const backlog = outboxes[outbox];
      return backlog ? [{ outbox, ...backlog }] : [];
    });
  };
  gauge(
    { name: "tollgate_outbox_entries", help: "Entries that wait in an outbox.", labelNames },
    (shown, state) => {
      for (const { outbox, entries } of readable(state)) shown.set({ outbox }, entries);
    },
  );
  gauge(
    {
      name: "tollgate_outbox_oldest_seconds",
      help: "Age of the entry that waits longest in an outbox; 0 without one.",
      labelNames,
    },
    (shown, state) => {
      for (const { outbox, oldestAtMs } of readable(state)) {
        shown.set({ outbox }, oldestAtMs === undefined ? 0 : secondsSince(oldestAtMs, now()));
      }
    },
  );
}

function registerRollUps(gauge: NewGauge, now: () => number): void {
  gauge(
    {
      name: "tollgate_usage_roll_up_lag_seconds",
      help: "Time since the end of the last hour of usage that is summed up; no series before the first one.",
    },
    (shown, { rollUps }) => {
      if (rollUps && rollUps.closedToMs > 0) shown.set(secondsSince(rollUps.closedToMs, now()));
    },
  );
  gauge(
    {
      name: "tollgate_usage_stale_hours",
      help: "Hours of wallets whose summed-up usage waits to be computed again.",
    },
    (shown, { rollUps }) => {
      if (rollUps) shown.set(rollUps.staleHours);
    },
  );
}

/** Never negative: a clock may have been set back. */
function secondsSince(ms: number, nowMs: number): number {
  return Math.max(0, (nowMs - ms) / 1_000);
}
