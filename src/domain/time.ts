/** A time in Unix milliseconds as ISO 8601 in UTC; null for none. */
export function printTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
