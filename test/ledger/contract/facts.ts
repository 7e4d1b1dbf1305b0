import { describe, expect, test } from "bun:test";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import type { HoldRequest } from "../../../src/ledger/ledger.ts";
import type { OutcomeFacts } from "../../../src/ledger/records.ts";
import { FACTS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { pagesOf } from "./walk-pages.ts";

/** Facts of requests and outcomes: stored unchanged, or declined with invalid_facts. */
export function describeFacts(env: LedgerEnv): void {
  describe("facts", () => {
    const validTexts = [
      "x".repeat(256),
      "😀".repeat(128),
      "'; DROP TABLE holds; --",
      "__proto__",
      "\u202eÄ \u00a0%_",
    ];
    const invalidTexts = [
      "\0",
      "a\0b",
      "lone \ud800",
      "\udc00",
      "x".repeat(257),
      "x".repeat(100_000),
      "\n",
      "\u0085",
    ];
    const outcomes = (text: string): readonly OutcomeFacts[] => [
      { ...FACTS, outcome: text },
      { ...FACTS, upstream: text },
      { ...FACTS, upstreamModel: text },
      { ...FACTS, attempts: [{ upstream: text, reason: text, report: text, status: 200, ms: 1 }] },
    ];

    test.each(validTexts.map((text, i) => [i, text] as const))(
      "with unusual text %i are stored unchanged",
      async (_, text) => {
        const facts: HoldRequest["facts"] = { surface: text, model: text };
        const attempts = [{ upstream: text, reason: text, report: text, status: 200, ms: 1 }];
        const outcome: OutcomeFacts = {
          ...FACTS,
          outcome: text,
          upstream: text,
          upstreamModel: text,
          attempts,
        };
        await env.hold("h1", 10n, { facts });
        await env.settle("h1", 10n, outcome);
        expect(await env.receipt("h1")).toMatchObject({ request: facts, outcome });
        expect(await env.hold("h1", 10n, { facts })).toMatchObject({ replayed: true });
        const { receiptId } = await env.charge("c1", 10n, { facts, outcome });
        expect(await env.ledger.receipt(env.walletId, receiptId)).toMatchObject({
          request: facts,
          outcome,
        });
        const of = { walletId: env.walletId, surface: text, model: text, upstream: text, outcome: text };
        const pages = await pagesOf((page) => env.ledger.receipts(of, page), 5);
        expect(pages.flat()).toHaveLength(2);
        const groupBy = ["surface", "upstream"] as const;
        expect((await env.ledger.usage({ ...of, groupBy })).rows).toMatchObject([
          { group: { surface: text, upstream: text }, requests: 2, captured: 20n },
        ]);
      },
    );

    test.each(invalidTexts.map((text, i) => [i, text] as const))(
      "with invalid text %i are declined",
      async (_, text) => {
        await env.hold("open", 10n);
        const requests = [
          { surface: text, model: "demo" },
          { surface: "chat", model: text },
        ];
        const commands = [
          ...requests.flatMap((facts) => [
            () => env.hold("h1", 10n, { facts }),
            () => env.charge("c1", 10n, { facts }),
          ]),
          ...outcomes(text).flatMap((outcome) => [
            () => env.settle("open", 1n, outcome),
            () => env.release("open", outcome),
            () => env.charge("c1", 1n, { outcome }),
          ]),
        ];
        expect(await env.errorCodes(commands)).toEqual(commands.map(() => "invalid_facts"));
        expect(await env.settle("open", 1n)).toMatchObject({ captured: 1n });
      },
    );

    test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300, 2 ** 63])(
      "with the number %d are declined",
      async (count) => {
        await env.hold("open", 10n);
        const { usage = NO_USAGE } = FACTS;
        const odd: OutcomeFacts[] = [
          { ...FACTS, usage: { ...usage, inputTokens: count } },
          { ...FACTS, usage: { ...usage, cachedInputTokens: -1 } },
          { ...FACTS, usage: { ...usage, outputTokens: 0.5 } },
          { ...FACTS, firstOutputMs: count },
          { ...FACTS, totalMs: count },
          { ...FACTS, attempts: [{ upstream: "up", status: 200, ms: count }] },
        ];
        const commands = odd.map((facts) => () => env.settle("open", 1n, facts));
        expect(await env.errorCodes(commands)).toEqual(commands.map(() => "invalid_facts"));
      },
    );

    test.each([-1n, 4n * 10n ** 18n + 1n, 2n ** 63n, 2n ** 70n])(
      "with the price %s are declined",
      async (odd) => {
        await env.hold("open", 10n);
        const names = ["input", "output", "cachedInput", "cacheWrite", "cacheWrite1h"];
        const pricesOf = (name: string) => ({ ...FACTS.price, [name]: odd }) as OutcomeFacts["price"];
        const facts = names.map((name) => ({ ...FACTS, price: pricesOf(name) }));
        const commands = facts.map((each) => () => env.settle("open", 1n, each));
        expect(await env.errorCodes(commands)).toEqual(names.map(() => "invalid_facts"));
      },
    );

    test("store prices and token counts exactly", async () => {
      const most = 4n * 10n ** 18n;
      const price = { input: most, output: most - 1n, cachedInput: 0n, cacheWrite: 1n, cacheWrite1h: most };
      const usage = { ...NO_USAGE, inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 1 };
      await env.hold("h1", 10n);
      await env.settle("h1", 10n, { ...FACTS, price, usage, totalMs: -5 });
      expect(await env.receipt("h1")).toMatchObject({ outcome: { price, usage, totalMs: -5 } });
    });
  });
}
