// Times are Unix milliseconds. So are the first 48 bits of an id such as that of a hold, which is a UUIDv7.

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** The largest time of an id. */
export const ID_TIME_MAX = 2 ** 48 - 1;

/** The smallest id of a millisecond, from 0 to {@link ID_TIME_MAX}. */
export function firstIdOf(atMs: number): string {
  const digits = atMs.toString(16).padStart(12, "0");
  return `${digits.slice(0, 8)}-${digits.slice(8)}-0000-0000-000000000000`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a text is a lower-case UUID, as every hold id is. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The start of the UTC hour of an id. */
export function hourOf(id: string): number {
  return startOf(timeOf(id), HOUR_MS);
}

/** The start of the UTC hour or day that a time is in. */
export function startOf(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}

/** Returns Unix milliseconds as ISO 8601 in UTC, or null for a missing time. */
export function printTime(ms: number): string;
export function printTime(ms: number | null | undefined): string | null;
export function printTime(ms: number | null | undefined): string | null {
  return ms === undefined || ms === null ? null : new Date(ms).toISOString();
}
