import { describe, expect, test } from "bun:test";
import type { Clients } from "./clients.ts";

/** Tests of the limit state in headers and in `GET /v1/key`. */
export function describeState({ caller, advance }: Clients): void {
  describe("the limit state", () => {
    test("is that of key or account with less remaining, after this admission", async () => {
      const { pass } = caller(
        { requestsPerMinute: 10, tokensPerMinute: 1000 },
        { requestsPerMinute: 11, tokensPerMinute: 600 },
      );
      await pass({ key: "k2", tokens: 100 });
      await advance(2000);
      expect((await pass({ tokens: 50 })).state).toEqual({
        requests: { limit: 10, remaining: 9, resetMs: 60_000 },
        tokens: { limit: 600, remaining: 450, resetMs: 60_000 },
      });
      await advance(500);
      expect((await pass({ key: "k2", tokens: 0 })).state).toEqual({
        requests: { limit: 10, remaining: 8, resetMs: 60_000 },
        tokens: { limit: 600, remaining: 450, resetMs: 60_000 },
      });
      expect((await pass({ key: "k3", tokens: 0 })).state.requests).toEqual({
        limit: 11,
        remaining: 7,
        resetMs: 60_000,
      });
    });

    test("is the key's when both have equal remainders", async () => {
      const { pass } = caller({ requestsPerMinute: 3 }, { requestsPerMinute: 4 });
      await pass({ key: "k2" });
      await advance(5000);
      expect((await pass()).state.requests).toEqual({ limit: 3, remaining: 2, resetMs: 60_000 });
    });

    test("is that of the only one with the limit", async () => {
      const { pass } = caller({ requestsPerMinute: 10 }, { tokensPerMinute: 600 });
      expect((await pass({ tokens: 5 })).state).toEqual({
        requests: { limit: 10, remaining: 9, resetMs: 60_000 },
        tokens: { limit: 600, remaining: 595, resetMs: 60_000 },
      });
    });

    test("is undefined without a limit", async () => {
      const { pass, usage } = caller({ concurrentRequests: 5 });
      expect((await pass({ tokens: 5 })).state).toEqual({ requests: undefined, tokens: undefined });
      expect(await usage()).toEqual({
        requests: undefined,
        tokens: undefined,
        running: 1,
        accountRunning: 1,
      });
    });

    test("resets tokens when the last of them expire, although requests are still counted", async () => {
      const { pass, usage } = caller({ requestsPerMinute: 10, tokensPerMinute: 100 });
      await pass({ tokens: 40 });
      await advance(25_000);
      const { state } = await pass({ tokens: 0 });
      expect(state.requests).toEqual({ limit: 10, remaining: 8, resetMs: 60_000 });
      expect(state.tokens).toEqual({ limit: 100, remaining: 60, resetMs: 35_000 });
      await advance(35_000);
      expect(await usage()).toMatchObject({
        requests: { remaining: 9, resetMs: 25_000 },
        tokens: { remaining: 100, resetMs: 0 },
      });
    });

    test("is not changed by a decline", async () => {
      const { pass, fail } = caller({ requestsPerMinute: 2, tokensPerMinute: 100 });
      await pass({ tokens: 30 });
      await advance(12_345);
      await pass({ tokens: 30 });
      expect((await fail({ tokens: 30 })).state).toEqual({
        requests: { limit: 2, remaining: 0, resetMs: 60_000 },
        tokens: { limit: 100, remaining: 40, resetMs: 60_000 },
      });
      await advance(1);
      expect((await fail({ tokens: 30 })).state).toEqual({
        requests: { limit: 2, remaining: 0, resetMs: 59_999 },
        tokens: { limit: 100, remaining: 40, resetMs: 59_999 },
      });
    });
  });

  describe("usage", () => {
    test("counts down to an empty window", async () => {
      const { pass, usage } = caller({ requestsPerMinute: 10 });
      expect((await usage()).requests).toEqual({ limit: 10, remaining: 10, resetMs: 0 });
      await pass();
      expect((await usage()).requests).toEqual({ limit: 10, remaining: 9, resetMs: 60_000 });
      await advance(59_999);
      expect((await usage()).requests).toEqual({ limit: 10, remaining: 9, resetMs: 1 });
      await advance(1);
      expect((await usage()).requests).toEqual({ limit: 10, remaining: 10, resetMs: 0 });
    });

    test("takes nothing, however often it is requested", async () => {
      const { pass, usage } = caller(
        { requestsPerMinute: 2, tokensPerMinute: 10, concurrentRequests: 2 },
        { requestsPerMinute: 2, tokensPerMinute: 10, concurrentRequests: 2 },
      );
      for (let index = 0; index < 50; index += 1) await usage();
      await pass({ tokens: 5 });
      const before = await usage();
      for (let index = 0; index < 50; index += 1) expect(await usage()).toEqual(before);
      await pass({ tokens: 5 });
    });

    test("equals the state of the preceding admission or decline", async () => {
      const { pass, fail, usage } = caller({ requestsPerMinute: 2 }, { tokensPerMinute: 10 });
      expect((await pass({ tokens: 3 })).state).toEqual(withoutRunning(await usage()));
      await advance(777);
      expect((await pass({ tokens: 3 })).state).toEqual(withoutRunning(await usage()));
      await advance(777);
      expect((await fail({ tokens: 3 })).state).toEqual(withoutRunning(await usage()));
    });
  });
}

function withoutRunning<State extends { running: number; accountRunning: number }>({
  running: _,
  accountRunning: __,
  ...state
}: State) {
  return state;
}
