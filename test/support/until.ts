/** Waits for a fact. Throws after two minutes. */
export async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error("The fact did not come true");
    await Bun.sleep(10);
  }
}
