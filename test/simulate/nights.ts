import type { World } from "./world.ts";

const MINUTE_MS = 60_000;

/** A night without requests. The gateways live through it, or are suspended with their machine, as a laptop is. */
export async function night({ scheduler, luck }: World, ms: number): Promise<void> {
  luck.isOn = true;
  const isSuspended = luck.strikes("suspended_night");
  luck.isOn = false;
  if (isSuspended) {
    scheduler.suspend(ms - MINUTE_MS);
    await scheduler.sleep(MINUTE_MS, "the machines are awake");
  } else await scheduler.sleep(ms, "a night is over");
}
