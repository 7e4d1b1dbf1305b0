import { useEffect, useState } from "react";
import type { RequestRow } from "./queries.ts";

const ROWS_MAX = 200;

interface Live {
  /** The rows that came since the page was opened, newest first. */
  readonly rows: readonly RequestRow[];
  readonly state: "off" | "connecting" | "live";
}

/**
 * Follows the account's requests over server-sent events. A hidden tab closes its stream: the server then
 * stops reading for it.
 */
export function useLiveRows(account: string, isOn: boolean): Live {
  const [rows, setRows] = useState<readonly RequestRow[]>([]);
  const [state, setState] = useState<Live["state"]>("off");
  useEffect(() => {
    if (!isOn) {
      setRows([]);
      setState("off");
      return;
    }
    let source: EventSource | undefined;
    const follow = () => {
      source?.close();
      source = undefined;
      if (document.hidden) return;
      setState("connecting");
      source = new EventSource(`/console/api/accounts/${encodeURIComponent(account)}/requests/live`);
      source.addEventListener("open", () => setState("live"));
      source.addEventListener("error", () => setState("connecting"));
      source.addEventListener("rows", (event: MessageEvent<string>) => {
        // Safe because the route sends rows of its schema.
        const news = JSON.parse(event.data) as readonly RequestRow[];
        setRows((before) => mergeRows(news, before));
      });
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      source?.close();
    };
  }, [account, isOn]);
  return { rows, state };
}

/** Joins two lists of rows: those of the first replace older states. Newest first, at most 200. */
export function mergeRows(news: readonly RequestRow[], before: readonly RequestRow[]): readonly RequestRow[] {
  const byId = new Map([...before, ...news].map((row) => [row.id, row]));
  // Ids are UUIDv7: their order is that of time.
  return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, ROWS_MAX);
}
