import { expect, test } from "bun:test";
import fc from "fast-check";
import { costOf, type Price } from "../../../src/domain/model.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import type { Usage } from "../../../src/domain/usage.ts";
import { printLines as linesOf } from "../../../src/http/console/requests/print.ts";
import type { OutcomeFacts } from "../../../src/ledger/records.ts";
import { sourceText } from "../../../src/usage/receipt-lines.ts";
import { priceOf, usageOf } from "../../domain/arbitraries.ts";

const tokens = fc.oneof(fc.constant(0), fc.nat({ max: 2_000_000 }));
const usage = usageOf(tokens);
const price = priceOf(fc.bigInt({ min: 0n, max: 200_000_000n }));
const outcome = (facts: { usage?: Usage; price?: Price }): OutcomeFacts => ({
  outcome: "ok",
  source: "reported",
  attempts: [],
  ...facts,
});

/** Parses decimal USD of at most 12 decimals, as a customer would add it up by hand. */
function picosOf(text: string): bigint {
  const [whole = "0", fraction = ""] = text.replace("-", "").split(".");
  const amount = BigInt(whole + fraction.padEnd(12, "0"));
  return text.startsWith("-") ? -amount : amount;
}

function sumOf({ lines, rounding_usd }: ReturnType<typeof linesOf>): bigint {
  return lines.reduce((sum, line) => sum + picosOf(line.amount_usd), picosOf(rounding_usd));
}

test("the lines and the rounding of every receipt add up to its charge, and the rounding is under a nano", () => {
  fc.assert(
    fc.property(usage, price, (used, prices) => {
      const captured = costOf(used, prices);
      const split = linesOf({ captured, outcome: outcome({ usage: used, price: prices }) });
      expect(sumOf(split)).toBe(captured * 1_000n);
      expect(split.lines.map((line) => line.class)).not.toContain("other");
      expect(picosOf(split.rounding_usd)).toBeGreaterThanOrEqual(0n);
      expect(picosOf(split.rounding_usd)).toBeLessThan(1_000n);
    }),
  );
});

test("each line is its tokens times its price", () => {
  fc.assert(
    fc.property(usage, price, (used, prices) => {
      const { lines } = linesOf({
        captured: costOf(used, prices),
        outcome: outcome({ usage: used, price: prices }),
      });
      for (const line of lines) {
        const perMillion = parseUsd(line.price_usd_per_million);
        expect(picosOf(line.amount_usd) * 1_000n).toBe(BigInt(line.tokens) * perMillion);
      }
    }),
  );
});

test("a charge that is not the sum of its tokens has a line for the difference", () => {
  fc.assert(
    fc.property(usage, price, fc.bigInt({ min: 0n, max: 4_000_000_000_000n }), (used, prices, captured) => {
      for (const facts of [outcome({ usage: used, price: prices }), outcome({}), undefined]) {
        expect(sumOf(linesOf({ captured, outcome: facts }))).toBe(captured * 1_000n);
      }
    }),
  );
});

test("the source of a request that cost nothing does not speak of a charge", () => {
  const expired = { ...outcome({}), outcome: "internal_error", source: "expired" } as const;
  const receipt = { state: "expired", late: false, refunded: 0n, outcome: expired } as const;
  const charged = "at the last sign of life of the request was charged.";
  expect(sourceText({ ...receipt, captured: 1n })).toEndWith(charged);
  expect(sourceText({ ...receipt, captured: 0n })).toEndWith("nothing was charged.");
});
