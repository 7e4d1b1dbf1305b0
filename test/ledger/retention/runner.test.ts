import { expect, test } from "bun:test";
import { startRetention } from "../../../src/ledger/background-jobs.ts";
import type { RetentionStep } from "../../../src/ledger/retention/job.ts";

const STEP: RetentionStep = { receipts: 0, bytes: 0, clearedToMs: 5, isMore: false };

/** Runs scripted steps, and returns the reports once the last of them has run. */
async function reportsOf(steps: readonly (RetentionStep | Error)[]) {
  const done = Promise.withResolvers<void>();
  const reports: unknown[] = [];
  const errors: unknown[] = [];
  let taken = 0;
  const retention = startRetention({
    ledger: {
      async retain() {
        const step = steps[taken++];
        if (step === undefined) done.resolve();
        if (step instanceof Error) throw step;
        return step ?? STEP;
      },
    },
    policy: { receiptsDays: 30 },
    everyMs: 1,
    onRun: (run) => reports.push(run),
    onError: (error) => errors.push(error),
  });
  await done.promise;
  retention.stop();
  return { reports, errors };
}

test("a run of many steps is reported once, with its sums", async () => {
  const { reports } = await reportsOf([
    { ...STEP, receipts: 3, isMore: true },
    { ...STEP, receipts: 4, isMore: true },
    { ...STEP, bytes: 100, isMore: true },
    STEP,
  ]);
  expect(reports).toEqual([{ receipts: 7, bytes: 100, clearedToMs: 5 }]);
});

test("a run without anything to drop is not reported, and one that was stopped is", async () => {
  const { reports } = await reportsOf([STEP, { ...STEP, stopped: "clock_jumped" }]);
  expect(reports).toEqual([{ receipts: 0, bytes: 0, clearedToMs: 5, stopped: "clock_jumped" }]);
});

test("a failed step is reported, and the next look follows", async () => {
  const { reports, errors } = await reportsOf([new Error("away"), { ...STEP, receipts: 1 }]);
  expect(errors).toHaveLength(1);
  expect(reports).toMatchObject([{ receipts: 1 }]);
});
