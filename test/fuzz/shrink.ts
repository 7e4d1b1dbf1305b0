/** Mutations of a case that is known to be wrong, down to those that it takes: each that can be left out is. */
export async function shrink(
  steps: readonly string[],
  isStillWrong: (without: ReadonlySet<string>) => Promise<boolean> | boolean,
): Promise<ReadonlySet<string>> {
  let without: ReadonlySet<string> = new Set();
  for (const step of steps.toReversed()) {
    const fewer = new Set([...without, step]);
    if (await isStillWrong(fewer)) without = fewer;
  }
  return without;
}
