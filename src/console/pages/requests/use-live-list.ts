import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import {
  hasFilter,
  hasRange,
  isOrdered,
  type RequestRow,
  type RequestsAnswer,
  type RequestsSearch,
  requestsQuery,
} from "../../queries/requests.ts";
import { meQuery } from "../../session.ts";
import { mergeRows, NOTHING, type Received, ROWS_MAX, receive } from "./live-rows.ts";

/** Wait before a stream that was refused is opened again. */
const RETRY_MS = 15_000;

/** `paused` and `off` have no stream; a `refused` one is tried again every 15 s. */
export type LiveState = "off" | "paused" | "connecting" | "live" | "refused";

interface Live extends Pick<Received, "rows" | "arrived" | "startId"> {
  readonly state: LiveState;
}

interface LiveOptions {
  /** What is to be done: nothing, keep the rows, or follow. */
  readonly wanted: "off" | "paused" | "live";
  /** Reads the page's own list again: rows were missed, or are too many to keep here. */
  readonly onGap: () => void;
}

/**
 * Follows the account's requests over server-sent events. A hidden tab closes its stream: the server then
 * stops reading for it. A stream that is refused because the session has ended leads to the sign-in.
 */
function useLiveRows(account: string, { wanted, onGap }: LiveOptions): Live {
  const queryClient = useQueryClient();
  const [received, setReceived] = useState(NOTHING);
  const [state, setState] = useState<LiveState>(wanted === "live" ? "connecting" : wanted);
  const [opened, setOpened] = useState(0);
  useEffect(() => {
    if (wanted === "off") setReceived(NOTHING);
    if (wanted !== "live") return setState(wanted);
    return followRequests(account, {
      onState: setState,
      onOpen: () => {
        setOpened((before) => before + 1);
        setReceived((before) => ({ ...before, count: undefined }));
      },
      onRows: (news, count) => setReceived((before) => receive(before, news, count)),
      // The answer 401 leads to the sign-in, as for every other query.
      onRefused: () =>
        void queryClient.fetchQuery({ ...meQuery, staleTime: 0, retry: false }).catch(() => {}),
    });
  }, [account, wanted, queryClient]);
  const { rows, arrived, startId, readings } = received;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a gap is due to these alone.
  useEffect(() => {
    if (opened > 1 || readings > 0) onGap();
  }, [opened, readings]);
  return { rows, arrived, startId, state };
}

interface Followed {
  readonly onState: (state: LiveState) => void;
  readonly onOpen: () => void;
  /** `count` is how many requests have come, as the server counts. */
  readonly onRows: (rows: readonly RequestRow[], count: number) => void;
  readonly onRefused: () => void;
}

/** Keeps a stream open while the tab is visible. Returns what ends it. */
function followRequests(account: string, { onState, onOpen, onRows, onRefused }: Followed): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    if (document.hidden) return;
    onState("connecting");
    const opening = new EventSource(`/console/api/accounts/${encodeURIComponent(account)}/requests/live`);
    source = opening;
    opening.addEventListener("open", () => {
      onState("live");
      onOpen();
    });
    opening.addEventListener("error", () => {
      // The browser connects again by itself, unless the answer was a refusal.
      if (opening.readyState !== EventSource.CLOSED) return onState("connecting");
      onState("refused");
      onRefused();
      timer = setTimeout(open, RETRY_MS);
    });
    opening.addEventListener("rows", (event: MessageEvent<string>) => {
      // Safe because the route sends rows of its schema.
      onRows(JSON.parse(event.data) as readonly RequestRow[], Number(event.lastEventId));
    });
  };
  open();
  document.addEventListener("visibilitychange", open);
  return () => {
    document.removeEventListener("visibilitychange", open);
    close();
  };
}

/** The list of the page: a page of rows, and the rows that have come since. */
export interface LiveList {
  /** Newest first, unless the URL has another order; `undefined` while loading. */
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
  const isWhole = !hasFilter(search) && !hasRange(search) && !isOrdered(search) && search.page === undefined;
  const isPaused = search.live === "0";
  const query = useQuery({ ...requestsQuery(account, search), refetchOnWindowFocus: !isPaused });
  const wanted = !isWhole ? "off" : isPaused ? "paused" : "live";
  const live = useLiveRows(account, { wanted, onGap: () => void query.refetch() });
  const [held, setHeld] = useState<HeldList>();
  const rows = query.data && (isWhole ? joinPage(live.rows, query.data) : query.data.items);
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
