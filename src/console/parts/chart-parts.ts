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

export interface ChartProps {
  readonly kind: "bars" | "lines";
  /** What the chart shows, in a sentence: its name for those who do not see it. */
  readonly label: string;
  /** What stands at the foot: "14:00" or "Nov 22", from {@link printTimes}. */
  readonly times: readonly string[];
  /** At most 8. */
  readonly series: readonly ChartSeries[];
  readonly format: (value: number) => string;
  /** Times that stand out, by their place. */
  readonly marks?: readonly number[];
  /** Default: 220 px. */
  readonly height?: number;
}

export const CHART_HEIGHT = 220;

/** Prints the times of a chart in the viewer's zone. Days are UTC days, as the roll-ups count them. */
export function printTimes(times: readonly string[], resolution: "hour" | "day"): readonly string[] {
  const format = new Intl.DateTimeFormat(
    "en-GB",
    resolution === "day"
      ? { month: "short", day: "numeric", timeZone: "UTC" }
      : { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" },
  );
  return times.map((time) => format.format(new Date(time)));
}

/** The class of a series: its colour by its place, or an outline. */
export function fillOf({ look }: ChartSeries, place: number): string {
  return (look === "outline" ? styles.outline : styles[`fill${(place % 8) + 1}`]) ?? "";
}
