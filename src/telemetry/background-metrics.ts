import { counter, type Family, gauge } from "./series.ts";

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
  /** The open holds of the whole ledger. */
  readonly holds: OpenHolds | undefined;
  readonly exports?: ExportState | undefined;
  /** Credits of plans that the ledger has not taken. Absent in a process that runs the ledger alone. */
  readonly planCredits?: Backlog | undefined;
  /** Absent in a process that runs the ledger alone. */
  readonly readiness?: ReadinessState | undefined;
}

/** What `/readyz` says. */
interface ReadinessState {
  /** Whether each part can serve requests. */
  readonly parts: Readonly<Record<string, boolean>>;
  /** Bytes that the disk of the settlement outbox can still take; `undefined` when it cannot be read. */
  readonly outboxFreeBytes: number | undefined;
}

/** Exports of usage. */
interface ExportState {
  /** What each export of the database has not taken; `undefined` when it cannot be read, or is elsewhere. */
  readonly backlogs:
    | readonly { readonly name: string; readonly oldestAtMs: number | undefined }[]
    | undefined;
  /** What this process has done since its start, by export. */
  readonly counts: ReadonlyMap<string, { readonly lines: number; readonly failures: number }>;
}

interface OpenHolds {
  readonly count: number;
  /** Nano-USD. */
  readonly granted: bigint;
  readonly oldestAtMs: number | undefined;
}

type OutboxName = "mail" | "webhook" | "settlement";

/** Reads the state for one scrape, within a bounded time. Must not reject. */
export type ReadBackground = () => Promise<BackgroundState>;

const NANOS_PER_USD = 1e9;

/** The gauges of the work in the background. A part that cannot be read has no series. */
export function backgroundFamilies(state: BackgroundState, nowMs: number): readonly Family[] {
  return [
    ...outboxFamilies(state, nowMs),
    ...rollUpFamilies(state, nowMs),
    ...holdFamilies(state, nowMs),
    ...exportFamilies(state, nowMs),
    ...planFamilies(state, nowMs),
    ...(state.readiness ? readinessFamilies(state.readiness) : []),
  ];
}

function readinessFamilies({ parts, outboxFreeBytes }: ReadinessState): readonly Family[] {
  return [
    gauge("tollgate_ready", "1 while a part that requests need works, by check of /readyz.", () =>
      Object.entries(parts).map(([check, ok]) => [{ check }, ok ? 1 : 0]),
    ),
    gauge("tollgate_outbox_free_bytes", "Free space on the disk of the settlement outbox.", () =>
      outboxFreeBytes === undefined ? [] : [[{}, outboxFreeBytes]],
    ),
  ];
}

function outboxFamilies({ outboxes }: BackgroundState, nowMs: number): readonly Family[] {
  const rows = (read: (backlog: Backlog) => number) => () =>
    Object.entries(outboxes).flatMap(([outbox, backlog]) =>
      backlog ? [[{ outbox }, read(backlog)] as const] : [],
    );
  return [
    gauge(
      "tollgate_outbox_entries",
      "Entries that wait in an outbox.",
      rows(({ entries }) => entries),
    ),
    gauge(
      "tollgate_outbox_oldest_seconds",
      "Age of the entry that waits longest in an outbox; 0 without one.",
      rows(({ oldestAtMs }) => ageOf(oldestAtMs, nowMs)),
    ),
  ];
}

function rollUpFamilies({ rollUps }: BackgroundState, nowMs: number): readonly Family[] {
  return [
    gauge(
      "tollgate_usage_roll_up_lag_seconds",
      "Time since the end of the last hour of usage that is summed up; no series before the first one.",
      () => (rollUps && rollUps.closedToMs > 0 ? [[{}, ageOf(rollUps.closedToMs, nowMs)]] : []),
    ),
    gauge(
      "tollgate_usage_stale_hours",
      "Hours of wallets whose summed-up usage waits to be computed again.",
      () => (rollUps ? [[{}, rollUps.staleHours]] : []),
    ),
  ];
}

function holdFamilies({ holds }: BackgroundState, nowMs: number): readonly Family[] {
  return [
    gauge("tollgate_ledger_open_holds", "Open holds of the whole ledger.", () =>
      holds ? [[{}, holds.count]] : [],
    ),
    gauge("tollgate_ledger_held_usd", "Money on hold in the whole ledger, in USD.", () =>
      holds ? [[{}, Number(holds.granted) / NANOS_PER_USD]] : [],
    ),
    gauge(
      "tollgate_ledger_oldest_hold_seconds",
      "Age of the oldest open hold of the whole ledger; 0 without one.",
      () => (holds ? [[{}, ageOf(holds.oldestAtMs, nowMs)]] : []),
    ),
  ];
}

/** The counters begin at 0 for each configured export. */
function exportFamilies({ exports }: BackgroundState, nowMs: number): readonly Family[] {
  const counts = [...(exports?.counts ?? [])];
  return [
    gauge(
      "tollgate_export_lag_seconds",
      "Age of the oldest line that an export has not delivered; 0 without one.",
      () =>
        (exports?.backlogs ?? []).map(({ name, oldestAtMs }) => [{ export: name }, ageOf(oldestAtMs, nowMs)]),
    ),
    counter("tollgate_export_lines_total", "Lines that this process has delivered.", () =>
      counts.map(([name, { lines }]) => [{ export: name }, lines]),
    ),
    counter(
      "tollgate_export_failures_total",
      "Tries of a batch that failed in this process, and lines that a receiver rejected.",
      () => counts.map(([name, { failures }]) => [{ export: name }, failures]),
    ),
  ];
}

function planFamilies({ planCredits }: BackgroundState, nowMs: number): readonly Family[] {
  return [
    gauge("tollgate_plan_credits_waiting", "Credits of plans that the ledger has not taken.", () =>
      planCredits ? [[{}, planCredits.entries]] : [],
    ),
    gauge(
      "tollgate_plan_credits_oldest_seconds",
      "Age of the credit of a plan that waits longest for the ledger; 0 without one.",
      () => (planCredits ? [[{}, ageOf(planCredits.oldestAtMs, nowMs)]] : []),
    ),
  ];
}

/** Age in seconds, 0 for a missing time. Never negative: a clock may have been set back. */
function ageOf(ms: number | undefined, nowMs: number): number {
  return ms === undefined ? 0 : Math.max(0, (nowMs - ms) / 1_000);
}
