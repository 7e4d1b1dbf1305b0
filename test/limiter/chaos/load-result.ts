import type { Report } from "./commands.ts";

/** An admission as its caller saw it. Redis decided it between `requestedMs` and `atMs`, by one clock. */
export interface Admission {
  /** Index of the process. */
  readonly process: number;
  readonly by: "redis" | "memory";
  readonly requestedMs: number;
  readonly atMs: number;
  /** Start of its end by the caller; `undefined` when the process was killed before, at an unknown time. */
  readonly endedMs: number | undefined;
}

/** Result of a load. */
export interface LoadResult {
  readonly admissions: readonly Admission[];
  readonly reports: readonly Report[];
}

/** The clocks of Redis and of a process are each truncated to milliseconds. */
const GRAIN_MS = 2;
const WINDOW_MS = 60_000 - GRAIN_MS;

/**
 * Returns the most admissions in any half-open minute: for each minute that starts at a request, all that
 * were requested and answered within it. Admissions across its edges are left out, so that an excess is
 * always a fault.
 */
export function mostInAnyMinute(admissions: readonly Admission[]): number {
  const starts = new Set(admissions.map(({ requestedMs }) => requestedMs));
  const counts = [...starts].map((startMs) => {
    const isWithin = ({ requestedMs, atMs }: Admission) =>
      requestedMs >= startMs && atMs < startMs + WINDOW_MS;
    return admissions.filter(isWithin).length;
  });
  return Math.max(0, ...counts);
}

/**
 * Returns the most admissions that certainly ran at one time: from the answer to the end or kill of the
 * caller.
 */
export function mostAtOnce(admissions: readonly Admission[]): number {
  const steps = admissions.flatMap(({ atMs, endedMs = atMs }) => [
    { atMs, by: 1 },
    { atMs: endedMs, by: -1 },
  ]);
  // Ends precede starts of the same millisecond.
  steps.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let running = 0;
  let most = 0;
  for (const { by } of steps) {
    running += by;
    most = Math.max(most, running);
  }
  return most;
}

/** Returns the admissions of one process. */
export function ofProcess({ admissions }: LoadResult, process: number): readonly Admission[] {
  return admissions.filter((each) => each.process === process);
}

/**
 * Returns how many admissions without Redis exceeded the process's share, counted together with all
 * admissions of the process in the minute before.
 */
export function beyondShare(admissions: readonly Admission[], share: number): number {
  const inOrder = admissions.toSorted((a, b) => a.atMs - b.atMs);
  let oldest = 0;
  let beyond = 0;
  for (const [index, { by, atMs }] of inOrder.entries()) {
    while ((inOrder[oldest]?.requestedMs ?? atMs) <= atMs - WINDOW_MS) oldest += 1;
    if (by === "memory" && index - oldest + 1 > share) beyond += 1;
  }
  return beyond;
}

/** Shortens a log line about Redis to "away" or "back". */
export function shorten(event: string): string {
  return event.startsWith("Redis is away") ? "away" : event.startsWith("Redis is back") ? "back" : event;
}

export function slowestMs({ reports }: LoadResult): { readonly answer: number; readonly end: number } {
  return {
    answer: Math.max(...reports.map(({ slowestMs: ms }) => ms)),
    end: Math.max(...reports.map(({ slowestEndMs: ms }) => ms)),
  };
}

export function declinedFor({ reports }: LoadResult, why: keyof Report["declined"]): number {
  return reports.reduce((sum, { declined }) => sum + declined[why], 0);
}
