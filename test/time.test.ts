import { describe, expect, test } from "bun:test";
import { type Deadline, SharedTimer, startPasses } from "../src/platform.ts";

const clock = () => performance.now();

/** A deadline that can be moved, and a promise of the clock reading at which it passed. */
function deadlineIn(ms: number) {
  const { promise: passed, resolve } = Promise.withResolvers<number>();
  const deadline = {
    at: clock() + ms,
    dueAt: () => deadline.at,
    onDue: () => resolve(clock()),
    passed,
  };
  return deadline;
}

describe("a shared timer", () => {
  test("reports each deadline once, in the order in which they pass", async () => {
    let nowMs = 0;
    const timer = new SharedTimer(() => nowMs);
    const order: string[] = [];
    const add = (name: string, ms: number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const onDue = () => {
        order.push(name);
        resolve();
      };
      timer.add({ dueAt: () => ms, onDue });
      return promise;
    };
    const late = add("late", 20);
    const early = add("early", 10);
    nowMs = 10;
    await early;
    expect(order).toEqual(["early"]);
    nowMs = 20;
    await late;
    expect(order).toEqual(["early", "late"]);
  });

  test("follows a deadline that moves to a later time without a call", async () => {
    const timer = new SharedTimer(clock);
    const deadline = deadlineIn(10);
    timer.add(deadline);
    deadline.at += 60;
    expect(await deadline.passed).toBeGreaterThanOrEqual(deadline.at);
  });

  test("follows a deadline that is tightened", async () => {
    const timer = new SharedTimer(clock);
    const deadline = deadlineIn(3_600_000);
    timer.add(deadline);
    deadline.at = clock() + 10;
    timer.tighten(deadline.at);
    expect(await deadline.passed).toBeGreaterThanOrEqual(deadline.at);
  });

  test("does not report a deleted deadline, also when an earlier one deletes it", async () => {
    const timer = new SharedTimer(clock);
    const deleted = deadlineIn(20);
    const reported: string[] = [];
    void deleted.passed.then(() => reported.push("deleted"));
    const deleting: Deadline = { dueAt: () => deleted.at, onDue: () => timer.delete(deleted) };
    const last = deadlineIn(40);
    timer.add(deleting);
    timer.add(deleted);
    timer.add(last);
    await last.passed;
    expect(reported).toEqual([]);
  });

  test("watches deadlines that are added after it was idle", async () => {
    const timer = new SharedTimer(clock);
    for (const ms of [5, 5, 1]) {
      const deadline = deadlineIn(ms);
      timer.add(deadline);
      await deadline.passed;
    }
  });

  test("limits the wait for a promise: its value, its error, or that of the limit", async () => {
    const timer = new SharedTimer(clock);
    const late = () => new Error("late");
    expect(await timer.limit(10_000, Promise.resolve(7), late)).toBe(7);
    await expect(timer.limit(10_000, Promise.reject(new Error("failed")), late)).rejects.toThrow("failed");
    await expect(timer.limit(10, new Promise(() => {}), late)).rejects.toThrow("late");
  });
});

describe("passes of work", () => {
  test("follow one another, also after a failed one, until they are stopped in the middle of one", async () => {
    const { promise: isSixth, resolve: reachSixth } = Promise.withResolvers<void>();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const errors: unknown[] = [];
    const signals: AbortSignal[] = [];
    let ended = 0;
    const run = async (signal: AbortSignal) => {
      signals.push(signal);
      if (signals.length === 2) throw new Error("failed");
      if (signals.length === 6) {
        reachSixth();
        await isReleased;
      }
      ended += 1;
    };
    const passes = startPasses({ everyMs: 2, run, onError: (error) => errors.push(error) });
    await isSixth;
    const stopped = passes.stop();
    expect(signals[5]?.aborted).toBe(true);
    release();
    await stopped;
    expect([ended, errors.length]).toEqual([5, 1]);
    await Bun.sleep(20);
    expect(signals).toHaveLength(6);
  });

  test("begin within a fifth of the pause when they begin soon, and are stopped before the first one", async () => {
    const { promise: isBegun, resolve: begin } = Promise.withResolvers<void>();
    const run = async () => begin();
    const soon = startPasses({ everyMs: 1_000, beginsSoon: true, run, onError: () => undefined });
    const late = startPasses({ everyMs: 3_600_000, run: () => Promise.reject(), onError: () => undefined });
    await isBegun;
    await soon.stop();
    await late.stop();
  });
});
