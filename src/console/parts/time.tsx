import { formatTime, formatUtc, type TimeStyle } from "../times.ts";

interface TimeProps {
  /** ISO 8601 UTC; `null` shows a dash. */
  readonly at: string | null | undefined;
  readonly as?: TimeStyle;
}

/** A time in the viewer's zone, with UTC in its title. */
export function Time({ at, as = "minute" }: TimeProps) {
  if (at === null || at === undefined) return <span>–</span>;
  return (
    <time dateTime={at} title={formatUtc(at)}>
      {formatTime(at, as)}
    </time>
  );
}
