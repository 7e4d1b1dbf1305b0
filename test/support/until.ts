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

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** As long as a file of tests takes on a busy machine. */
const LEFT_MS_MIN = 120_000;

/** Resolves when the day of a zone lasts two more minutes, so that no day and no month ends during the tests. */
export async function untilDayLasts(offsetHours = 0): Promise<void> {
  const leftMs = DAY_MS - ((Date.now() + offsetHours * HOUR_MS) % DAY_MS);
  if (leftMs < LEFT_MS_MIN) await Bun.sleep(leftMs);
}
