/**
 * How long a test or a hook may take, in milliseconds: long enough for a machine under load, because this limit is
 * there to end one that hangs. What measures time does so by itself, in the files that `test/run/run.ts` runs alone.
 */
export const TEST_MS = 300_000;
