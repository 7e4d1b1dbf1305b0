import { counter, type Family } from "./series.ts";

/** What came of the bodies of a settled request. */
export type RecordingResult =
  | "stored"
  /** Its key records no more, was revoked, or had its recordings deleted since. */
  | "stopped"
  /** It is larger than its account may keep. */
  | "size"
  /** No memory was left for it. */
  | "memory"
  /** It could not be redacted and packed in time. */
  | "worker"
  /** The database did not take it. */
  | "database";

/** Why this process has deleted recordings: their time was over, or others needed the room. */
type RecordingEnd = "expired" | "room";

/** Counts recordings of bodies. No label names an account or a key. */
export interface RecordingMetrics {
  recorded(result: Exclude<RecordingResult, "stored">): void;
  stored(bytes: number): void;
  deleted(end: RecordingEnd, recordings: number): void;
}

export interface CountedRecordings extends RecordingMetrics {
  readonly families: readonly Family[];
}

export function countRecordings(): CountedRecordings {
  const results = { stored: 0, stopped: 0, size: 0, memory: 0, worker: 0, database: 0 };
  const ends = { expired: 0, room: 0 };
  let storedBytes = 0;
  return {
    families: [
      counter("tollgate_recordings_total", "Recordings of bodies, by what came of them.", () =>
        Object.entries(results).map(([result, count]) => [{ result }, count]),
      ),
      counter("tollgate_recording_bytes_total", "Bytes of the recordings that were stored.", () => [
        [{}, storedBytes],
      ]),
      counter("tollgate_recordings_deleted_total", "Recordings that this process deleted, by reason.", () =>
        Object.entries(ends).map(([reason, count]) => [{ reason }, count]),
      ),
    ],
    recorded(result) {
      results[result] += 1;
    },
    stored(bytes) {
      results.stored += 1;
      storedBytes += bytes;
    },
    deleted(end, recordings) {
      ends[end] += recordings;
    },
  };
}
