import type { LinkProps } from "@tanstack/react-router";
import { formatClock, formatShortDay, formatUtcDay } from "../times.ts";
import styles from "./chart.module.css";

/** The values of one line or of one layer of the bars. */
export interface ChartSeries {
  readonly id: string;
  readonly name: string;
  /** One value for each time. */
  readonly values: readonly number[];
  /** Drawn as an outline, for what is no part of the whole: refused requests. Default: filled. */
  readonly look?: "outline";
}

/** One place of a chart from left to right: a bucket of time, or one of durations. */
export interface ChartPlace {
  /** Names the place above the chart and in the table: "22 Nov, 14:00". */
  readonly text: string;
  /** At the foot of the chart, where there is room: "14:00", or "22 Nov" for the first hour of a day. */
  readonly foot: string;
  /** Hour of the day, 0 to 23. `undefined` for places that are no hours. */
  readonly hour?: number;
}

/** Most series of one chart: readers with a colour weakness cannot tell more apart. */
export const SERIES_MAX = 6;

export interface ChartProps {
  readonly kind: "bars" | "lines";
  /** What the chart shows, in a sentence: its name for those who do not see it. */
  readonly label: string;
  readonly places: readonly ChartPlace[];
  /** At most {@link SERIES_MAX}, and outlines. */
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Times that stand out, by their place. */
  readonly marks?: readonly number[];
  /** Default: 220 px. */
  readonly height?: number;
  /** What is counted, after a sum that has no sign of its own: "requests". */
  readonly unit?: string;
  /** Where a place leads, or one series of it: to its requests. */
  readonly placeLink?: (place: number, series?: string) => LinkProps | undefined;
  /** Where a range of places leads, both included: to its own view. */
  readonly rangeLink?: (first: number, last: number) => LinkProps;
}

/** The places that are read, both included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

export const CHART_HEIGHT = 220;

/** Prints ISO times as places. Hours are those of the viewer's zone; days are UTC days, as roll-ups count them. */
export function printTimes(times: readonly string[], resolution: "hour" | "day"): readonly ChartPlace[] {
  return times.map((time) => {
    const date = new Date(time);
    if (resolution === "day") return { text: formatUtcDay(date), foot: formatUtcDay(date) };
    const [day, clock, hour] = [formatShortDay(date), formatClock(date), date.getHours()];
    return { text: `${day}, ${clock}`, foot: hour === 0 ? day : clock, hour };
  });
}

/** The class of a series: its colour by its place, or an outline. */
export function fillOf({ look }: ChartSeries, place: number): string {
  return (look === "outline" ? styles.outline : styles[`fill${(place % SERIES_MAX) + 1}`]) ?? "";
}
