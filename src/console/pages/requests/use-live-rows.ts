import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { meQuery } from "../../session.ts";
import { NOTHING, type Received, receive } from "./live-rows.ts";
import type { RequestRow } from "./queries.ts";

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
export function useLiveRows(account: string, { wanted, onGap }: LiveOptions): Live {
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
