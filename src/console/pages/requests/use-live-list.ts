import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { mergeRows, ROWS_MAX } from "./live-rows.ts";
import {
  hasFilter,
  hasRange,
  type RequestRow,
  type RequestsAnswer,
  type RequestsSearch,
  requestsQuery,
} from "./queries.ts";
import { type LiveState, useLiveRows } from "./use-live-rows.ts";

/** The list of the page: a page of rows, and the rows that have come since. */
export interface LiveList {
  /** Newest first; `undefined` while loading. */
  readonly rows: readonly RequestRow[] | undefined;
  /** `off` where filters, a range or an older page show a list that nothing joins. */
  readonly state: LiveState;
  /** New rows that wait until the list is held no more. */
  readonly waiting: number;
  /** Requests that came while the list followed, and for which it has no place: older pages have them. */
  readonly notShown: number;
  /** Keeps the rows in their places, so that one of them can be pressed. */
  readonly hold: () => void;
  readonly unhold: () => void;
  readonly query: UseQueryResult<RequestsAnswer>;
}

/** Rows that keep their places. */
interface HeldList {
  readonly rows: readonly RequestRow[];
  /** How many requests had come by then. */
  readonly arrived: number;
}

/** Reads the requests of the URL's filters, and follows new ones where nothing is filtered. */
export function useLiveList(account: string, search: RequestsSearch): LiveList {
  const isWhole = !hasFilter(search) && !hasRange(search) && search.page === undefined;
  const isPaused = search.live === "0";
  const query = useQuery({ ...requestsQuery(account, search), refetchOnWindowFocus: !isPaused });
  const wanted = !isWhole ? "off" : isPaused ? "paused" : "live";
  const live = useLiveRows(account, { wanted, onGap: () => void query.refetch() });
  const [held, setHeld] = useState<HeldList>();
  const rows = query.data && joinPage(live.rows, query.data);
  // What was held belongs to the live list alone.
  if (live.state === "off" && held) setHeld(undefined);
  const shown = held && rows ? updateRows(held.rows, rows) : rows;
  return {
    rows: shown,
    state: live.state,
    waiting: held ? Math.max(0, live.arrived - held.arrived) : 0,
    notShown: rows ? Math.max(0, live.arrived - countNewer(rows, live.startId)) : 0,
    hold: () => {
      if (live.state !== "off" && shown && shown.length > 0)
        setHeld((before) => before ?? { rows: shown, arrived: live.arrived });
    },
    unhold: () => setHeld(undefined),
    query,
  };
}

/** Joins live rows with a page. Rows older than a page that has a next one are on that next one. */
function joinPage(
  live: readonly RequestRow[],
  { items, next }: Pick<RequestsAnswer, "items" | "next">,
): readonly RequestRow[] {
  const oldest = next === null ? "" : (items.at(-1)?.id ?? "");
  return mergeRows(live, items)
    .filter(({ id }) => id >= oldest)
    .slice(0, Math.max(ROWS_MAX, items.length));
}

/** Held rows, each in its newest state. */
function updateRows(held: readonly RequestRow[], rows: readonly RequestRow[]): readonly RequestRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return held.map((row) => byId.get(row.id) ?? row);
}

function countNewer(rows: readonly RequestRow[], newestId: string): number {
  return rows.filter(({ id }) => id > newestId).length;
}
