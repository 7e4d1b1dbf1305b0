import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

const BACK_MS = [1, 500, 999, 1000, 10_000, 59_000, 3_600_000, 31_536_000_000];

/**
 * A clock that is set. Set back: no admission expires before 60 s of true time, and all have expired 61 s
 * after the first call at the new time. Set ahead: equivalent to elapsed time.
 */
export function describeClock({ caller, advance, setClock }: Clients): void {
  describe("a clock that is set back", () => {
    test.each(BACK_MS)(
      "by %i ms neither expires an admission early nor keeps it more than one second longer",
      async (backMs) => {
        const { pass, fail } = caller({ requestsPerMinute: 1, tokensPerMinute: 10 });
        await (await pass({ tokens: 10 })).settle(9);
        await setClock(-backMs);
        expect(await fail({ tokens: 1 })).toMatchObject({ bound: "rate", retryAfterS: 60 });
        await advance(59_999);
        expect(await fail({ tokens: 1 })).toMatchObject({ bound: "rate", retryAfterS: 1 });
        await advance(1001);
        await pass({ tokens: 10 });
      },
    );

    test.each(BACK_MS)("by %i ms within a minute keeps at least the rest of the minute", async (backMs) => {
      const { pass, fail, usage } = caller({ requestsPerMinute: 2 });
      await (await pass()).settle(0);
      await advance(20_500);
      await (await pass()).settle(0);
      await setClock(-backMs);
      expect((await fail()).retryAfterS).toBeWithin(40, 61);
      await advance(39_499);
      await fail();
      await advance(20_500);
      expect((await usage()).requests?.remaining).toBeLessThan(2);
      await advance(1001);
      expect((await usage()).requests).toEqual({ limit: 2, remaining: 2, resetMs: 0 });
    });

    test.each(BACK_MS)(
      "by %i ms counts a call's tokens between its estimate and the actual",
      async (backMs) => {
        const { pass, usage } = caller({ tokensPerMinute: 100 });
        const call = await pass({ tokens: 60 });
        await advance(10_000);
        await (await pass({ tokens: 5 })).settle(5);
        await setClock(-backMs);
        await call.settle(20);
        expect((await usage()).tokens?.remaining).toBeWithin(35, 76);
        await advance(59_999);
        expect((await usage()).tokens?.remaining).toBeLessThan(100);
        await advance(1001);
        expect((await usage()).tokens).toEqual({ limit: 100, remaining: 100, resetMs: 0 });
      },
    );

    test.each([1000, 10_000, 50_000])(
      "by %i ms does not let a late settlement reduce the counts of other calls",
      async (backMs) => {
        const { pass, fail } = caller({ tokensPerMinute: 100 });
        const first = await pass({ tokens: 60 });
        await setClock(-backMs);
        await fail({ tokens: 41 });
        // The clock returns to the second of the first call.
        await advance(backMs);
        await (await pass({ tokens: 40 })).settle(40);
        await first.settle(0);
        await advance(60_000 - backMs);
        await fail({ tokens: 61 });
        await advance(backMs - 1);
        await fail({ tokens: 61 });
        await advance(1001);
        await pass({ tokens: 100 });
      },
    );

    test("repeatedly admits no more than N, and N again 61 s later", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 3 });
      for (let index = 0; index < 3; index += 1) {
        await (await pass()).settle(0);
        await setClock(-7000);
      }
      for (let index = 0; index < 20; index += 1) {
        await setClock(-1 - index * 100);
        await fail();
      }
      await advance(59_999);
      await fail();
      await advance(1001);
      for (let index = 0; index < 3; index += 1) await pass();
      await fail();
    });

    test.each(BACK_MS)("by %i ms keeps the slot of a running request", async (backMs) => {
      const { pass, fail, usage } = caller({ concurrentRequests: 1 });
      const call = await pass();
      await setClock(-backMs);
      await fail();
      await advance(100_000);
      await fail();
      expect((await usage()).running).toBe(1);
      await call.settle(0);
      await pass();
    });
  });

  describe("a clock that is set ahead", () => {
    test.each([60_000, 61_000, 3_600_000, 31_536_000_000])(
      "by %i ms empties the window, and the limit holds from there",
      async (aheadMs) => {
        const { pass, fail } = caller({ requestsPerMinute: 1 });
        await (await pass()).settle(0);
        await setClock(aheadMs);
        await (await pass()).settle(0);
        expect(await fail()).toMatchObject({ retryAfterS: 60 });
        await advance(59_999);
        await fail();
        await advance(1);
        await pass();
      },
    );

    test("by 20 s shortens the wait by 20 s", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1 });
      await (await pass()).settle(0);
      await setClock(20_000);
      expect(await fail()).toMatchObject({ retryAfterS: 40 });
      await advance(39_999);
      await fail();
      await advance(1);
      await pass();
    });

    test("by a year and back again declines no caller for longer than a minute", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 1 });
      await (await pass()).settle(0);
      await setClock(31_536_000_000);
      await (await pass()).settle(0);
      await setClock(-31_536_000_000);
      expect(await fail()).toMatchObject({ retryAfterS: 60 });
      await advance(59_999);
      await fail();
      await advance(1001);
      await pass();
    });
  });
}
