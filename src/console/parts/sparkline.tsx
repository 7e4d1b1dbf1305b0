import { formatCount, formatMs, formatPercent, plural } from "../format.ts";
import type { RouteHour } from "../queries/models.ts";
import { formatClock } from "../times.ts";
import styles from "./sparkline.module.css";

const HEIGHT = 28;
const BAR = 4;
const STEP = 5;
/** An hour with a single attempt is seen beside one with thousands. */
const BAR_MIN = 2;

interface HoursProps {
  /** The oldest first. */
  readonly hours: readonly RouteHour[];
}

const attemptsOf = ({ answered, failed }: RouteHour) => answered + failed;
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** The attempts of each hour as a bar, with its failed part. */
export function AttemptBars({ hours }: HoursProps) {
  const most = Math.max(...hours.map(attemptsOf), 1);
  const all = sum(hours.map(attemptsOf));
  const failed = sum(hours.map((hour) => hour.failed));
  const worst = hours.reduce((one, other) => (other.failed > one.failed ? other : one), hours[0] ?? NO_HOUR);
  const at = failed > 0 ? `, most of them in the hour of ${clockOf(worst.at)}` : "";
  const label = `${plural(all, "attempt")} in 24 hours, ${formatCount(failed)} failed${at}`;
  return (
    <Sparkline hours={hours} label={label}>
      {hours.map((hour, place) => {
        const height = heightOf(attemptsOf(hour), most);
        const bad = Math.min(heightOf(hour.failed, most), height);
        return (
          <g key={hour.at}>
            <title>{`${clockOf(hour.at)}: ${plural(attemptsOf(hour), "attempt")}, ${formatCount(hour.failed)} failed`}</title>
            <rect className={styles.hour} x={place * STEP} y={0} width={STEP} height={HEIGHT} />
            <rect className={styles.bar} x={place * STEP} y={HEIGHT - height} width={BAR} height={height} />
            <rect className={styles.failed} x={place * STEP} y={HEIGHT - bad} width={BAR} height={bad} />
          </g>
        );
      })}
    </Sparkline>
  );
}

/** The median of the first outputs of each hour as a line, broken where an hour has none. */
export function FirstOutputLine({ hours }: HoursProps) {
  const medians = hours.map(({ first_output: times }) => times?.p50);
  const known = medians.filter((ms) => ms !== undefined);
  const most = Math.max(...known, 1);
  const label =
    known.length === 0
      ? "No streamed answer in 24 hours"
      : `Median of the first output by hour: from ${formatMs(Math.min(...known))} to ${formatMs(most)}`;
  const y = (ms: number) => HEIGHT - 2 - (ms / most) * (HEIGHT - 4);
  return (
    <Sparkline hours={hours} label={label}>
      {partsOf(medians).map((part) => (
        <polyline
          key={part[0]?.place}
          className={styles.line}
          points={part.map(({ place, ms }) => `${place * STEP + BAR / 2},${y(ms)}`).join(" ")}
        />
      ))}
      {hours.map(({ at, first_output: times }, place) => (
        <g key={at}>
          <title>{`${clockOf(at)}: ${times ? formatMs(times.p50) : "no streamed answer"}`}</title>
          <rect className={styles.hour} x={place * STEP} y={0} width={STEP} height={HEIGHT} />
          {times && <circle className={styles.dot} cx={place * STEP + BAR / 2} cy={y(times.p50)} r={1.5} />}
        </g>
      ))}
    </Sparkline>
  );
}

interface SparklineProps extends HoursProps {
  /** What it shows, in a sentence. */
  readonly label: string;
  readonly children: React.ReactNode;
}

function Sparkline({ hours, label, children }: SparklineProps) {
  const width = Math.max(hours.length * STEP, STEP);
  return (
    <svg
      className={styles.sparkline}
      role="img"
      aria-label={label}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
    >
      {children}
    </svg>
  );
}

/** "99.4%" of the attempts; "–" without one. Never 100% with a failure. */
export function formatSuccess({ answered, failed }: Pick<RouteHour, "answered" | "failed">): string {
  const attempts = answered + failed;
  if (attempts === 0) return "–";
  return formatPercent(Math.floor((answered * 1_000) / attempts) / 1_000);
}

const NO_HOUR: RouteHour = { at: "", answered: 0, failed: 0, first_output: null };

/** The time of an hour in the viewer's zone. */
function clockOf(at: string): string {
  return at === "" ? "" : formatClock(new Date(at));
}

function heightOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.max(BAR_MIN, Math.round((count / most) * HEIGHT));
}

interface Point {
  readonly place: number;
  readonly ms: number;
}

/** Splits values at their gaps. */
function partsOf(values: readonly (number | undefined)[]): readonly (readonly Point[])[] {
  const parts: Point[][] = [];
  let open: Point[] | undefined;
  for (const [place, ms] of values.entries()) {
    if (ms === undefined) {
      open = undefined;
      continue;
    }
    if (!open) {
      open = [];
      parts.push(open);
    }
    open.push({ place, ms });
  }
  return parts;
}
