import type { Report } from "./commands.ts";

/** An admission as its caller saw it. Redis decided it between `askedMs` and `atMs`, by the same clock. */
export interface Admission {
  /** Index of the process. */
  readonly process: number;
  readonly by: "redis" | "memory";
  readonly askedMs: number;
  readonly atMs: number;
  /** When its caller began to give it back; `undefined` when it was killed before, nobody knows when. */
  readonly endedMs: number | undefined;
}

/** What a load came to. */
export interface LoadResult {
  readonly admissions: readonly Admission[];
  readonly reports: readonly Report[];
}

/** The clocks of Redis and of a process alone are cut to milliseconds, each for itself. */
const GRAIN_MS = 2;
const WINDOW_MS = 60_000 - GRAIN_MS;

/**
 * The most admissions in any half-open minute: for each that begins when somebody asks, all that were asked
 * and answered within it. What nobody can place is left out, so that what is too many is a fault.
 */
export function mostInAnyMinute(admissions: readonly Admission[]): number {
  const starts = new Set(admissions.map(({ askedMs }) => askedMs));
  const counts = [...starts].map((startMs) => {
    const isWithin = ({ askedMs, atMs }: Admission) => askedMs >= startMs && atMs < startMs + WINDOW_MS;
    return admissions.filter(isWithin).length;
  });
  return Math.max(0, ...counts);
}

/** The most that certainly ran at one moment: from the answer until their callers gave them back or were killed. */
export function mostAtOnce(admissions: readonly Admission[]): number {
  const steps = admissions.flatMap(({ atMs, endedMs = atMs }) => [
    { atMs, by: 1 },
    { atMs: endedMs, by: -1 },
  ]);
  // In one millisecond ends come first.
  steps.sort((a, b) => a.atMs - b.atMs || a.by - b.by);
  let running = 0;
  let most = 0;
  for (const { by } of steps) {
    running += by;
    most = Math.max(most, running);
  }
  return most;
}

/** Those of one process. */
export function ofProcess({ admissions }: LoadResult, process: number): readonly Admission[] {
  return admissions.filter((each) => each.process === process);
}

/**
 * Of the admissions that a process gave alone, how many went beyond its share: counted with all that it gave
 * in the minute before, whoever decided those.
 */
export function beyondShare(admissions: readonly Admission[], share: number): number {
  const inOrder = admissions.toSorted((a, b) => a.atMs - b.atMs);
  let oldest = 0;
  let beyond = 0;
  for (const [index, { by, atMs }] of inOrder.entries()) {
    while ((inOrder[oldest]?.askedMs ?? atMs) <= atMs - WINDOW_MS) oldest += 1;
    if (by === "memory" && index - oldest + 1 > share) beyond += 1;
  }
  return beyond;
}

/** A line of the log about Redis in a word: "away" or "back". */
export function shorten(event: string): string {
  return event.startsWith("Redis is away") ? "away" : event.startsWith("Redis is back") ? "back" : event;
}

export function slowestMs({ reports }: LoadResult): { readonly answer: number; readonly end: number } {
  return {
    answer: Math.max(...reports.map(({ slowestMs: ms }) => ms)),
    end: Math.max(...reports.map(({ slowestEndMs: ms }) => ms)),
  };
}

export function refusedBy({ reports }: LoadResult, why: keyof Report["refused"]): number {
  return reports.reduce((sum, { refused }) => sum + refused[why], 0);
}
