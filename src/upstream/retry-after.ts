/**
 * How long an upstream asks to be left alone, in milliseconds from 1; `undefined` when it does not say so in
 * a form that is understood: `retry-after-ms`, or `retry-after` in seconds or as a date. A date is compared with
 * the answer's own `date`, which comes of the same clock, or with `nowMs` where the answer has none.
 */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const ms =
    readNumber(headers.get("retry-after-ms")) ??
    readPause(headers.get("retry-after"), sentAt(headers) ?? nowMs);
  return ms !== undefined && ms >= 1 ? ms : undefined;
}

/** When the upstream's clock says that it answered, in Unix milliseconds. */
function sentAt(headers: Headers): number | undefined {
  const dateMs = Date.parse(headers.get("date") ?? "");
  return Number.isNaN(dateMs) ? undefined : dateMs;
}

function readPause(said: string | null, nowMs: number): number | undefined {
  const seconds = readNumber(said);
  if (seconds !== undefined) return seconds * 1_000;
  const dateMs = Date.parse(said ?? "");
  return Number.isNaN(dateMs) ? undefined : dateMs - nowMs;
}

function readNumber(said: string | null): number | undefined {
  return said !== null && /^\d{1,12}(\.\d{1,6})?$/.test(said.trim()) ? Number(said) : undefined;
}
