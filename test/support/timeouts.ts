/**
 * How long a test or a hook may take, in milliseconds: long enough for a machine under load, because this limit is
 * there to end one that hangs. What measures time does so by itself, in the files that `test/run/run.ts` runs alone.
 */
export const TEST_MS = 300_000;

/** For what comes at some time: long, so that a machine under load has time enough. */
const UNTIL_MS = 120_000;
const EVERY_MS = 10;

/** Resolves when a condition holds. Throws what `explain` returns when that takes two minutes. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  explain: () => string = () => "What was waited for has not come",
): Promise<void> {
  const deadline = performance.now() + UNTIL_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(explain());
    await Bun.sleep(EVERY_MS);
  }
}
