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
