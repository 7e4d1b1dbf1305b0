import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CREDIT_SOURCES, type CreditSource } from "../../../src/domain/credit.ts";
import { LedgerError } from "../../../src/ledger/ledger.ts";
import { CreditModel } from "../credit-model.ts";
import { DAY_MS } from "../given.ts";
import { FACTS, holdIdOf, holdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";

const PAGE = { size: 100 };

/** Credits: money of one source and one end. */
export function describeCredits(env: LedgerEnv): void {
  const grant = (topUpId: string, amount: bigint, source: CreditSource, days?: number) => {
    const expiresAtMs = days === undefined ? undefined : env.clock.nowMs + days * DAY_MS;
    return env.ledger.topUp({ walletId: env.walletId, topUpId, amount, source, expiresAtMs });
  };
  const lefts = async () => {
    const { items } = await env.ledger.credits(env.walletId, PAGE, { isLive: true });
    return items.map(({ creditId, left }) => `${creditId} ${left}`);
  };

  describe("credits", () => {
    test("are spent by their ends, then promotion, plan, refund, adjustment and purchase, then the oldest", async () => {
      await grant("bought", 10n, "purchase");
      await grant("adjusted", 10n, "adjustment");
      await grant("plan", 10n, "plan");
      await grant("given", 10n, "promotion");
      await grant("later", 10n, "purchase", 9);
      await grant("soon", 10n, "purchase", 2);
      await grant("soon-plan", 10n, "plan", 2);
      const order = ["soon-plan", "soon", "later", "given", "plan", "adjusted", "funds", "bought"];
      expect(await lefts()).toEqual(order.map((id) => `${id} ${id === "funds" ? 100 : 10}`));
      await env.hold("h1", 25n);
      expect(await lefts()).toHaveLength(8);
      await env.settle("h1", 25n);
      expect((await lefts())[0]).toBe("later 5");
    });

    test("that have ended are not available, whether or not a sweep has booked it", async () => {
      await grant("soon", 40n, "promotion", 1);
      env.clock.nowMs += DAY_MS;
      expect(await env.balances()).toEqual({ posted: 140n, held: 0n, available: 100n });
      expect(await env.errorCode(() => env.hold("h1", 101n))).toBe("insufficient_balance");
      await env.sweep();
      expect(await env.balances()).toEqual({ posted: 100n, held: 0n, available: 100n });
      const { items } = await env.ledger.transfers(env.walletId, { size: 1 });
      expect(items).toMatchObject([{ kind: "credit_expiry", amount: -40n, transferId: "expiry-2-3" }]);
      const totals = await env.ledger.journalTotals(env.walletId);
      expect(totals).toMatchObject({ toppedUp: 140n, charged: 0n, expired: 40n, transfers: 3 });
      expect(await env.ledger.journalTotals(env.walletId, { derivesCharged: true })).toEqual(totals);
    });

    test("stay for a hold from before the end; what it does not use ends with it", async () => {
      await grant("soon", 40n, "promotion", 1);
      await env.hold("h1", 140n, { ttlMs: 3 * DAY_MS });
      env.clock.nowMs += DAY_MS;
      expect(await env.balances()).toEqual({ posted: 140n, held: 140n, available: 0n });
      expect(await env.errorCode(() => env.hold("h2", 1n))).toBe("balance_on_hold");
      await env.settle("h1", 15n);
      expect(await env.balances()).toEqual({ posted: 100n, held: 0n, available: 100n });
      expect(await lefts()).toEqual(["funds 100"]);
      const { items } = await env.ledger.credits(env.walletId, PAGE);
      expect(items).toMatchObject([
        { creditId: "soon", left: 0n, expired: 25n, amount: 40n },
        { creditId: "funds" },
      ]);
    });

    test("are not spent after their end by a hold that came later, nor by a charge", async () => {
      await grant("soon", 40n, "promotion", 1);
      await env.hold("h1", 30n, { ttlMs: 3 * DAY_MS });
      env.clock.nowMs += DAY_MS;
      await env.hold("h2", 100n);
      await env.settle("h2", 120n);
      expect(await lefts()).toEqual(["soon 30"]);
      expect(await env.balances()).toEqual({ posted: 10n, held: 30n, available: -20n });
      await env.settle("h1", 30n);
      expect(await env.balances()).toEqual({ posted: -20n, held: 0n, available: -20n });
    });

    test("first pay what the wallet owes", async () => {
      await env.hold("h1", 100n);
      await env.settle("h1", 130n);
      await grant("given", 50n, "promotion", 3);
      expect(await lefts()).toEqual(["given 20"]);
      env.clock.nowMs += 3 * DAY_MS;
      await env.sweep();
      expect(await env.balances()).toEqual({ posted: 0n, held: 0n, available: 0n });
    });

    test("get a refund back, and after their end it is a new credit of seven days", async () => {
      await grant("given", 20n, "promotion", 3);
      await env.hold("h1", 50n);
      await env.settle("h1", 50n);
      await env.refund("r1", "h1", 10n);
      expect(await lefts()).toEqual(["funds 80"]);
      await env.refund("r2", "h1", 25n);
      expect(await lefts()).toEqual(["given 5", "funds 100"]);
      env.clock.nowMs += 3 * DAY_MS;
      await env.refund("r3", "h1", 15n);
      expect(await lefts()).toEqual(["r3 15", "funds 100"]);
      const { items } = await env.ledger.credits(env.walletId, { size: 1 });
      expect(items).toMatchObject([
        { source: "refund", amount: 15n, expiresAtMs: env.clock.nowMs + 7 * DAY_MS },
      ]);
    });

    test("that were spent and get a refund back end all the same", async () => {
      await env.topUp("c1", -100n);
      await grant("given", 20n, "promotion", 3);
      await env.hold("h1", 20n);
      await env.settle("h1", 20n);
      await env.refund("r1", "h1", 15n);
      expect(await lefts()).toEqual(["given 15"]);
      env.clock.nowMs += 3 * DAY_MS;
      expect(await env.balances()).toMatchObject({ available: 0n });
      expect(await env.sweep()).toBe(1);
      expect(await env.balances()).toEqual({ posted: 0n, held: 0n, available: 0n });
    });

    test("that ended before a clock was set back stay ended, and their holds stay theirs", async () => {
      await env.hold("h1", 10n, { ttlMs: 30 * DAY_MS });
      env.clock.nowMs -= 2 * DAY_MS;
      await grant("given", 20n, "promotion", 1);
      env.clock.nowMs += DAY_MS;
      await env.sweep();
      env.clock.nowMs -= DAY_MS;
      expect(await lefts()).toEqual(["given 10", "funds 100"]);
      await env.settle("h1", 4n);
      expect(await lefts()).toEqual(["funds 100"]);
      expect(await env.balances()).toEqual({ posted: 100n, held: 0n, available: 100n });
    });

    test("are granted once, with one source and end, and not for a time that has passed", async () => {
      expect(await grant("given", 5n, "promotion", 3)).toMatchObject({ replayed: false });
      expect(await grant("given", 5n, "promotion", 3)).toMatchObject({ replayed: true });
      expect(await env.errorCode(() => grant("given", 5n, "plan", 3))).toBe("conflict");
      expect(await env.errorCode(() => grant("given", 5n, "promotion", 4))).toBe("conflict");
      expect(await env.errorCode(() => grant("late", 5n, "promotion", 0))).toBe("invalid_credit");
      expect(await env.errorCode(() => grant("odd", 5n, "gift" as CreditSource))).toBe("invalid_credit");
    });

    test("of random histories are as an independent reckoning has them, by one process or two", async () => {
      const another = await env.openAnother();
      let runs = 0;
      const property = fc.asyncProperty(fc.array(STEP, { maxLength: 40, size: "max" }), async (given) => {
        env.clock.nowMs = NOON_MS;
        runs += 1;
        const walletId = `${env.walletId}-credits-${runs}`;
        const model = new CreditModel();
        await env.ledger.createWallet(walletId);
        for (const [index, step] of given.entries()) {
          if (step.kind === "pass") env.clock.nowMs += step.days * DAY_MS;
          const ledger = index % 3 === 0 ? another : env.ledger;
          await play({ ledger, model, walletId, now: env.clock.nowMs, index }, step);
          const view = model.viewAt(env.clock.nowMs);
          const { items } = await env.ledger.credits(walletId, PAGE);
          const lots = items.map(({ creditId: id, left, expired, amount }) => ({
            id,
            left,
            expired,
            amount,
          }));
          const { available } = await env.ledger.balances(walletId);
          expect({ available, lots }).toEqual(view);
        }
      });
      await fc.assert(property, { numRuns: env.runsOf(40) });
    });
  });
}

type Step =
  | { readonly kind: "pass"; readonly days: number }
  | { readonly kind: "sweep" }
  | {
      readonly kind: "top_up";
      readonly source: CreditSource;
      readonly amount: bigint;
      readonly days: number | undefined;
    }
  | {
      readonly kind: "correct" | "hold" | "settle" | "release" | "refund";
      readonly pick: number;
      readonly amount: bigint;
    };

const AMOUNT = fc.bigInt(1n, 30n);
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), days: fc.integer({ min: -1, max: 3 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("top_up" as const),
      source: fc.constantFrom(...CREDIT_SOURCES),
      amount: AMOUNT,
      days: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("correct", "hold", "hold", "settle", "settle", "release", "refund" as const),
      pick: fc.nat(9),
      amount: AMOUNT,
    }),
  },
);

interface Played {
  readonly ledger: LedgerEnv["ledger"];
  readonly model: CreditModel;
  readonly walletId: string;
  readonly now: number;
  readonly index: number;
}

async function play({ ledger, model, walletId, now, index }: Played, step: Step): Promise<void> {
  if (step.kind === "pass" || step.kind === "sweep") return;
  if (step.kind === "top_up") {
    const { source, amount, days } = step;
    const ends = days === undefined ? undefined : now + days * DAY_MS;
    await ledger.topUp({ walletId, topUpId: `t${index}`, amount, source, expiresAtMs: ends });
    return model.topUp({ id: `t${index}`, source, amount, ends }, now);
  }
  const { kind, pick, amount } = step;
  if (kind === "correct") {
    const creditId = model.lots[pick]?.id;
    await ledger.topUp({ walletId, topUpId: `c${index}`, amount: -amount, creditId });
    return model.correct(amount, creditId, now);
  }
  if (kind === "hold") {
    const request = {
      ...holdOf(amount, { minimum: amount, ttlMs: 300 * DAY_MS }),
      holdId: holdIdOf(`${walletId}${index}`, now),
      walletId,
    };
    const isGranted = await ledger.hold(request).then(
      () => true,
      (error) => {
        if (error instanceof LedgerError) return false;
        throw error;
      },
    );
    expect(isGranted).toBe(model.hold(request.holdId, amount, now));
    return;
  }
  await end({ ledger, model, walletId, now, index }, { kind, pick, amount });
}

async function end(
  { ledger, model, walletId, now, index }: Played,
  {
    kind,
    pick,
    amount,
  }: { readonly kind: "settle" | "release" | "refund"; readonly pick: number; readonly amount: bigint },
): Promise<void> {
  const found = [...model.holds].filter(([, { isOpen }]) => isOpen === (kind !== "refund"));
  const [holdId, hold] = found[pick % Math.max(1, found.length)] ?? [];
  if (!holdId || !hold) return;
  const facts = FACTS;
  if (kind === "settle") {
    await ledger.settle({ walletId, holdId, amount, facts });
    return model.settle(holdId, amount, now);
  }
  if (kind === "release") {
    await ledger.release({ walletId, holdId, facts });
    return model.release(holdId, now);
  }
  const charged = hold.parts.reduce((sum, part) => sum + part.amount, 0n) - hold.refunded;
  const back = amount < charged ? amount : charged;
  if (back === 0n) return;
  await ledger.refund({ walletId, refundId: `r${index}`, holdId, amount: back });
  model.refund(holdId, `r${index}`, back, now);
}
