import { expect, test } from "bun:test";
import { startRollUps } from "../../../src/ledger/background-jobs.ts";

test("the runner takes steps while there is work, goes on after a fault, and stops with the running step", async () => {
  const faults: unknown[] = [];
  let steps = 0;
  const { promise: isDone, resolve } = Promise.withResolvers<void>();
  const ledger = {
    async rollUp() {
      steps += 1;
      if (steps === 2) throw new Error("fault");
      if (steps === 6) resolve();
      return steps < 6;
    },
  };
  const runner = startRollUps({ ledger, everyMs: 5, onError: (fault) => faults.push(fault) });
  await isDone;
  await runner.stop();
  const stoppedAt = steps;
  await Bun.sleep(50);
  expect(steps).toBe(stoppedAt);
  expect(faults).toHaveLength(1);
});
