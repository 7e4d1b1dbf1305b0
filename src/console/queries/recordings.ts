import { queryOptions } from "@tanstack/react-query";
import { ApiError, api, call } from "../api.ts";
import type { DataOf } from "../query.ts";

export type KeyRecording = DataOf<typeof keyRecordingQuery>;
export type RecordingContent = NonNullable<DataOf<typeof openedRecordingQuery>["content"]>;

/** How a key records. Of the key, so that a change of the key renews it. */
export const keyRecordingQuery = (account: string, key: string) =>
  queryOptions({
    queryKey: ["account", account, "keys", key, "recording"],
    queryFn: () => call(() => api.accounts({ account }).keys({ key }).recording.get()),
  });

/** Whether the bodies of a request are kept; null where they are not. */
export const recordingQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ["account", account, "recording", id],
    queryFn: () => orNothing(call(() => api.accounts({ account }).requests({ id }).recording.get())),
  });

/** The bodies of a request. Each reading is an entry of the audit trail: they are read once, and not kept for long. */
export const openedRecordingQuery = (account: string, id: string) =>
  queryOptions({
    queryKey: ["account", account, "recording", id, "opened"],
    queryFn: () => call(() => api.accounts({ account }).requests({ id }).recording.open.post()),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });

async function orNothing<Data>(asked: Promise<Data>): Promise<Data | null> {
  return asked.catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  });
}
