import type { RequestRow } from "../../queries/requests.ts";

/** Rows that are kept and shown at most. */
export const ROWS_MAX = 150;
/** New rows after which the page's own list is read again, so that its next page follows what is shown. */
const READ_AGAIN = 100;
/** What events have brought. */
export interface Received {
  /** The newest rows that came since the stream was opened first, newest first; at most 150, without a gap. */
  readonly rows: readonly RequestRow[];
  /** How many requests came since the latest opening, also those that no event had. */
  readonly arrived: number;
  /** Id of the newest request of the latest opening. */
  readonly startId: string;
  /** The count of the latest event; `undefined` after an opening. */
  readonly count: number | undefined;
  /** New rows since the page's own list was read, and how often it was to be read again. */
  readonly unread: number;
  readonly readings: number;
}

/** Before the first event. */
export const NOTHING: Received = {
  rows: [],
  arrived: 0,
  startId: "",
  count: undefined,
  unread: 0,
  readings: 0,
};

/** Takes an event. Rows before a gap go: what is shown has none. */
export function receive(before: Received, news: readonly RequestRow[], count: number): Received {
  const [newest] = before.rows;
  const fresh = news.filter(({ id }) => id > (newest?.id ?? before.startId)).length;
  if (before.count === undefined) {
    const rows = mergeRows(news, before.rows).slice(0, ROWS_MAX);
    return { ...before, rows, count, arrived: 0, startId: rows[0]?.id ?? "" };
  }
  const arrived = Math.max(0, count - before.count);
  const isGap = arrived > fresh;
  const rows = (isGap ? news : mergeRows(news, before.rows)).slice(0, ROWS_MAX);
  const unread = before.unread + arrived;
  const isDue = isGap || unread > READ_AGAIN;
  return {
    ...{ rows, count, startId: before.startId },
    arrived: before.arrived + arrived,
    unread: isDue ? 0 : unread,
    readings: before.readings + (isDue ? 1 : 0),
  };
}

/** Joins two lists of rows, newest first: those of the first replace older states. */
export function mergeRows(news: readonly RequestRow[], before: readonly RequestRow[]): readonly RequestRow[] {
  const byId = new Map([...before, ...news].map((row) => [row.id, row]));
  // Ids are UUIDv7: their order is that of time.
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}
