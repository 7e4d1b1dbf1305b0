/** Long enough for a busy machine. */
const UNTIL_MS = 120_000;
const EVERY_MS = 10;

/** Resolves when a condition holds. Throws the message of `explain` after two minutes or `maxMs`. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  explain = () => `This has not come true: ${condition}`,
  maxMs: number = UNTIL_MS,
): Promise<void> {
  const deadline = performance.now() + maxMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(explain());
    await Bun.sleep(EVERY_MS);
  }
}
