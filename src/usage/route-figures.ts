// How fast and how well models and their routes answered in the last 24 hours, over all accounts.

import type { DatabaseParts } from "../db/database.ts";
import { ROUTE_BOUNDS_MS } from "../db/usage-columns.ts";
import { HOUR_MS, startOf } from "../domain/id-time.ts";
import { type RouteName, type RouteSum, sumRoutes } from "./route-hours.ts";
import { type Percentiles, percentilesOf } from "./sums.ts";

/** The running hour and those before it. */
const HOURS = 24;
/**
 * Members see figures of so many requests at the least: of fewer, a figure would tell of single requests of other
 * accounts.
 */
const SHOWN_MIN = 50;
/** Figures for members have so many digits, so that their changes tell of no single request. */
const DIGITS = 2;

/** The attempts at one route, for operators alone: their number shows how much all accounts ask. */
export interface RouteDay {
  readonly answered: number;
  readonly failed: number;
  /** The share that was answered; `undefined` without an attempt. */
  readonly success: number | undefined;
  readonly firstOutput: Percentiles | undefined;
}

export interface RouteHour extends RouteDay {
  /** Start of the UTC hour in Unix milliseconds. */
  readonly startMs: number;
}

/** How a model answered, rounded, for everybody who may see the model. */
interface ModelDay {
  /** From 0 to 1 in whole percent, rounded down. */
  readonly success: number;
  /** Milliseconds; `undefined` of too few streams. */
  readonly firstOutput: Pick<Percentiles, "p50" | "p95"> | undefined;
}

/** The figures of every model and route. */
export interface DayFigures {
  /** `undefined` of too few requests. */
  ofModel(model: string): ModelDay | undefined;
  ofRoute(name: RouteName): RouteDay;
}

const NOTHING: RouteDay = { answered: 0, failed: 0, success: undefined, firstOutput: undefined };

/** Reads the figures of the last day, as all gateways have written them so far. */
export async function readDay({ database, now }: DatabaseParts): Promise<DayFigures> {
  const sums = await sumRoutes(database, { fromMs: firstHourMs(now()) });
  const byName = new Map(sums.map((sum) => [nameOf(sum), sum]));
  return {
    ofModel(model) {
      const sum = byName.get(nameOf({ model, upstream: "", upstreamModel: "" }));
      return sum && shownOf(sum);
    },
    ofRoute(name) {
      const sum = byName.get(nameOf(name));
      return sum ? dayOf(sum) : NOTHING;
    },
  };
}

/** Reads the hours of routes, the oldest first; each has 24, also those without an attempt. */
export async function readHours(
  { database, now }: DatabaseParts,
  model: string | undefined,
): Promise<(name: RouteName) => readonly RouteHour[]> {
  const fromMs = firstHourMs(now());
  const sums = await sumRoutes(database, { fromMs, model, byHour: true });
  const byHour = new Map(sums.map((sum) => [`${sum.startMs} ${nameOf(sum)}`, sum]));
  const starts = Array.from({ length: HOURS }, (_, hour) => fromMs + hour * HOUR_MS);
  return (name) =>
    starts.map((startMs) => {
      const sum = byHour.get(`${startMs} ${nameOf(name)}`);
      return { startMs, ...(sum ? dayOf(sum) : NOTHING) };
    });
}

function firstHourMs(nowMs: number): number {
  return startOf(nowMs, HOUR_MS) - (HOURS - 1) * HOUR_MS;
}

function nameOf({ model, upstream, upstreamModel }: RouteName): string {
  return `${model}\n${upstream}\n${upstreamModel}`;
}

function dayOf({ answered, failed, firstOutputMs }: RouteSum): RouteDay {
  const attempts = answered + failed;
  return {
    answered,
    failed,
    success: attempts === 0 ? undefined : answered / attempts,
    firstOutput: percentilesOf(firstOutputMs, ROUTE_BOUNDS_MS),
  };
}

function shownOf({ answered, failed, firstOutputMs }: RouteSum): ModelDay | undefined {
  const requests = answered + failed;
  if (requests < SHOWN_MIN) return undefined;
  const timed = firstOutputMs.reduce((sum, count) => sum + count, 0);
  const times = timed < SHOWN_MIN ? undefined : percentilesOf(firstOutputMs, ROUTE_BOUNDS_MS);
  return {
    success: Math.floor((answered * 100) / requests) / 100,
    firstOutput: times && { p50: round(times.p50), p95: round(times.p95) },
  };
}

function round(ms: number): number {
  return Number(ms.toPrecision(DIGITS));
}
