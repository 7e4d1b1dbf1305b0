import { createMemoryLimiter } from "../../../src/limiter/memory.ts";
import { createManualClock } from "../manual-clock.ts";
import type { LimiterHarness } from "./harness.ts";

/** Opens a limiter in process. It has no replica that could be killed. */
export async function openMemoryLimiter(): Promise<LimiterHarness> {
  const clock = createManualClock();
  const limiter = createMemoryLimiter({ now: clock.now });
  return {
    replicas: [limiter],
    nowMs: clock.now,
    advance: async (ms) => clock.step(ms),
    setClock: async (ms) => clock.step(ms),
    async kill() {
      throw new Error("a limiter in process has no other replica that could be killed");
    },
    renewedAtMs: () => undefined,
    close: async () => limiter.close(),
  };
}
