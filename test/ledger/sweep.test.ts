import { expect, spyOn, test } from "bun:test";
import { startSweeper } from "../../src/ledger/background-jobs.ts";
import { platform } from "../../src/platform.ts";

test("the sweeper sweeps repeatedly, at once after a full sweep, and also after a failed one", async () => {
  const sweeps = [500, 500, 3, new Error("locked"), 0, 0];
  const errors: unknown[] = [];
  let swept = 0;
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const ledger = {
    async sweep() {
      const result = sweeps[swept++];
      if (swept === sweeps.length) resolve();
      if (result instanceof Error) throw result;
      return result ?? 0;
    },
  };
  const sweeper = startSweeper({ ledger, everyMs: 5, onError: (error) => errors.push(error) });
  await done;
  await sweeper.stop();
  expect(errors).toEqual([sweeps[3]]);
  const stoppedAt = swept;
  await Bun.sleep(30);
  expect(swept).toBe(stoppedAt);
});

test("the sweeper sweeps soon after its start, for holds of a killed process", async () => {
  const timers = spyOn(platform, "setTimeout");
  const ledger = { sweep: async () => 0 };
  const sweeper = startSweeper({ ledger, everyMs: 5_000, onError: () => undefined });
  expect(timers.mock.calls[0]?.[1]).toBeLessThan(2_500);
  timers.mockRestore();
  await sweeper.stop();
});
