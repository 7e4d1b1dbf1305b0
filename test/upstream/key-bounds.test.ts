import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createKeyBounds, type KeySlot } from "../../src/upstream/key-bounds.ts";
import { createManualClock } from "../limiter/manual-clock.ts";

const step = fc.oneof(
  fc.record({ do: fc.constant("take" as const), tokens: fc.integer({ min: 0, max: 150 }) }),
  fc.record({ do: fc.constant("end" as const), tokens: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 30_000 }) }),
);

describe("the bounds of a key", () => {
  test("are never exceeded in any 60 seconds, whatever is taken and ended", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const clock = createManualClock();
        const limits = { requestsPerMinute: 5, tokensPerMinute: 100, concurrentRequests: 3 };
        const bounds = createKeyBounds(limits, { replicas: 1, clock: clock.now });
        const taken: { atMs: number; tokens: number }[] = [];
        const running: { slot: KeySlot; entry: { atMs: number; tokens: number } }[] = [];
        for (const each of steps) {
          if (each.do === "wait") clock.step(each.ms);
          if (each.do === "end") {
            const ended = running.shift();
            ended?.slot.end(Math.min(each.tokens, ended.entry.tokens));
            if (ended) ended.entry.tokens = Math.min(each.tokens, ended.entry.tokens);
          }
          if (each.do === "take") {
            const slot = bounds.take(each.tokens);
            expect(slot === undefined).toBe(slot === undefined && bounds.waitMs(each.tokens) > 0);
            if (!slot) continue;
            const entry = { atMs: clock.now(), tokens: Math.min(each.tokens, 100) };
            taken.push(entry);
            running.push({ slot, entry });
          }
          const recent = taken.filter(({ atMs }) => atMs > clock.now() - 60_000);
          expect(recent.length).toBeLessThanOrEqual(5);
          expect(recent.reduce((sum, { tokens }) => sum + tokens, 0)).toBeLessThanOrEqual(100);
          expect(running.length).toBeLessThanOrEqual(3);
        }
      }),
      { numRuns: 200 },
    );
  });

  test("are divided by the number of gateways, rounded up", () => {
    const bounds = createKeyBounds({ requestsPerMinute: 5 }, { replicas: 3, clock: () => 0 });
    const slots = Array.from({ length: 4 }, () => bounds.take(1));
    expect(slots.filter((slot) => slot !== undefined)).toHaveLength(2);
  });

  test("forget a request that the upstream never got, and keep one that it got", () => {
    const bounds = createKeyBounds({ requestsPerMinute: 1 }, { replicas: 1, clock: () => 0 });
    bounds.take(1)?.end(undefined);
    const slot = bounds.take(1);
    expect(slot).toBeDefined();
    slot?.end(1);
    slot?.end(undefined);
    expect(bounds.take(1)).toBeUndefined();
  });

  test("keep what was taken when the limits change", () => {
    const bounds = createKeyBounds({ requestsPerMinute: 1 }, { replicas: 1, clock: () => 0 });
    bounds.take(1);
    bounds.change({ requestsPerMinute: 2 });
    expect(bounds.take(1)).toBeDefined();
    expect(bounds.take(1)).toBeUndefined();
  });
});
