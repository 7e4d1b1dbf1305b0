import { describe, expect, test } from "bun:test";
import { NANOS_MAX } from "../../../src/domain/money.ts";
import type { TransferTotalsQuery } from "../../../src/ledger/records.ts";
import { errorCodeOf, FACTS, holdIdOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { scope } from "./scopes.ts";

const P1 = scope("project", "p1");
const U1 = scope("end_user", "u1");
const HOUR_MS = 3_600_000;
/** Rounds of the largest amount whose sum is above 64 bits. */
const ROUNDS = 12;

/** Sums of transfers by a scope of their receipts. */
export function describeTransferTotals(env: LedgerEnv): void {
  /** The totals as "kind scope amount transfers", sorted. */
  const totals = async (query: Partial<TransferTotalsQuery> = {}) =>
    (await env.ledger.transferTotals(env.walletId, { by: "project", ...query }))
      .map(({ kind, scopeId = "-", amount, transfers }) => `${kind} ${scopeId} ${amount} ${transfers}`)
      .toSorted();

  async function spend(): Promise<void> {
    await env.hold("a", 10n, { scopes: [P1, U1, scope("tag", "team=blue")] });
    await env.settle("a", 7n);
    await env.hold("b", 10n, { keyId: "k2" });
    await env.settle("b", 5n);
    await env.hold("c", 10n, { scopes: [P1], ttlMs: 1 });
    await env.extend("c", 2n, { ttlMs: 1 });
    env.clock.nowMs += HOUR_MS;
    await env.sweep();
    await env.settle("c", 6n);
    await env.refund("r1", "a", 3n);
    await env.charge("x", 1n, { scopes: [P1] });
    await env.topUp("less", -4n);
  }

  describe("sums of transfers", () => {
    test("are by kind and project; refunds, captures and late settlements follow their receipt", async () => {
      await spend();
      expect(await totals()).toEqual([
        "charge p1 -1 1",
        "correction - -4 1",
        "expiry_capture p1 -2 1",
        "late_settlement p1 -4 1",
        "refund p1 3 1",
        "settlement p1 -7 1",
        // Without a project, a receipt is of the default one.
        `settlement ${env.walletId} -5 1`,
        "top_up - 100 1",
      ]);
    });

    test("are by key, end user and tag too", async () => {
      await spend();
      expect(await totals({ by: "key" })).toContain("settlement k2 -5 1");
      expect(await totals({ by: "end_user" })).toEqual([
        "charge - -1 1",
        "correction - -4 1",
        "expiry_capture - -2 1",
        "late_settlement - -4 1",
        "refund u1 3 1",
        "settlement - -5 1",
        "settlement u1 -7 1",
        "top_up - 100 1",
      ]);
      const byTeam = await totals({ by: "tag", tagKey: "team" });
      expect(byTeam.filter((each) => each.includes("blue"))).toEqual([
        "refund blue 3 1",
        "settlement blue -7 1",
      ]);
      expect((await totals({ by: "tag", tagKey: "tea" })).join()).not.toContain("blue");
    });

    test("are by project and key at once, each transfer in one of them", async () => {
      await spend();
      const sums = await env.ledger.transferTotals(env.walletId, { by: "project", splitsKeys: true });
      const printed = sums.map(({ kind, scopeId = "-", keyId = "-", amount }) =>
        [kind, scopeId, keyId, amount].join(" "),
      );
      expect(printed.toSorted()).toEqual([
        "charge p1 k1 -1",
        "correction - - -4",
        "expiry_capture p1 k1 -2",
        "late_settlement p1 k1 -4",
        "refund p1 k1 3",
        "settlement p1 k1 -7",
        `settlement ${env.walletId} k2 -5`,
        "top_up - - 100",
      ]);
    });

    test("are of the range of the transfers' own time", async () => {
      await env.hold("a", 10n, { scopes: [P1] });
      env.clock.nowMs = NOON_MS + HOUR_MS;
      await env.settle("a", 7n);
      env.clock.nowMs = NOON_MS + 2 * HOUR_MS;
      await env.refund("r1", "a", 3n);
      expect(await totals({ toMs: NOON_MS + HOUR_MS })).toEqual(["top_up - 100 1"]);
      const hour = { fromMs: NOON_MS + HOUR_MS, toMs: NOON_MS + 2 * HOUR_MS };
      expect(await totals(hour)).toEqual(["settlement p1 -7 1"]);
      expect(await totals({ fromMs: NOON_MS + 2 * HOUR_MS })).toEqual(["refund p1 3 1"]);
      expect(await totals({ fromMs: NOON_MS + 3 * HOUR_MS })).toEqual([]);
    });

    test("are exact above 64 bits, and mix no wallets", async () => {
      const amount = NANOS_MAX - 1n;
      const other = `${env.walletId}/other`;
      await env.ledger.createWallet(other);
      for (let round = 1; round <= ROUNDS; round++) {
        const hold = { walletId: other, holdId: holdIdOf(`${round}`) };
        await env.ledger.topUp({ walletId: other, topUpId: `${round}`, amount });
        await env.hold("", amount, { ...hold, minimum: amount, scopes: [P1] });
        await env.ledger.settle({ ...hold, amount, facts: FACTS });
      }
      expect(await totals()).toEqual(["top_up - 100 1"]);
      const sums = await env.ledger.transferTotals(other, { by: "project" });
      expect(sums.map(({ transfers }) => transfers)).toEqual([ROUNDS, ROUNDS]);
      const exact = amount * BigInt(ROUNDS);
      // On the wire, a sum above 64 bits is the nearest amount that it can carry.
      const clamped = [2n ** 63n - 1n, -(2n ** 63n)];
      const credits = sums
        .toSorted((one, next) => (one.amount < next.amount ? 1 : -1))
        .map((each) => each.amount);
      expect([[exact, -exact].join(), clamped.join()]).toContain(credits.join());
    });

    test("of an unknown wallet are none, and of a query that no ledger takes are declined", async () => {
      expect(await env.ledger.transferTotals("wallet-none", { by: "project" })).toEqual([]);
      const bad = [{ by: "tag" }, { by: "planet" }, { by: "key", fromMs: -1 }, { by: "tag", tagKey: "\0" }];
      for (const query of bad) {
        // Safe because the ledger must decline what it cannot read.
        const read = env.ledger.transferTotals(env.walletId, query as TransferTotalsQuery);
        expect([query, await errorCodeOf(read)]).toEqual([query, "invalid_query"]);
      }
    });
  });
}
