/**
 * Time limit of a test or a hook, in milliseconds. Ends a test that hangs, even on a busy machine. Tests that
 * measure time run alone and have limits of their own.
 */
export const TEST_MS = 300_000;

/** Long enough for a busy machine. */
const UNTIL_MS = 120_000;
const EVERY_MS = 10;

/** Resolves when a condition holds. Throws the message of `explain` after two minutes. */
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
