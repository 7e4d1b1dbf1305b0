import { describe, expect, test } from "bun:test";
import type { FullLimitsQuery } from "../../../src/ledger/records.ts";
import { errorCodeOf, NOON_MS } from "../samples.ts";
import type { LedgerEnv } from "./env.ts";
import { scope } from "./scopes.ts";

const P1 = scope("project", "p1");
const HALF = 50;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Limits that are full to a percentage, found by what was spent. */
export function describeFullLimits(env: LedgerEnv): void {
  /** The limits as "id subject used held", sorted, with the position after them. */
  async function full(query: Partial<FullLimitsQuery> = {}, walletId = env.walletId) {
    const { limits, end, isAtEnd } = await env.ledger.fullLimits(walletId, { percent: HALF, ...query });
    const printed = limits.map(({ limitId, subject = "-", used, held }) =>
      [limitId, subject, used, held].join(" "),
    );
    return { printed: printed.toSorted(), end, isAtEnd };
  }
  const eachUser = () =>
    env.limit("each", 10n, { keyId: undefined, scope: P1, each: "end_user", period: "day" });
  const spendAs = async (name: string, user: string, amount: bigint) => {
    await env.hold(name, amount, { scopes: [P1, scope("end_user", user)] });
    await env.settle(name, amount);
  };

  describe("full limits", () => {
    test("of a template are found for each scope that has spent since the piece before", async () => {
      await eachUser();
      await spendAs("a", "u1", 9n);
      const { end, printed } = await full();
      expect(printed).toEqual([]);
      await spendAs("b", "u2", 5n);
      await spendAs("c", "u3", 4n);
      expect(await full({ after: end })).toMatchObject({ printed: ["each u2 5 0"], isAtEnd: true });
      expect((await full({ after: 0 })).printed).toEqual(["each u1 9 0", "each u2 5 0"]);
      expect((await full({ after: 0, percent: 90 })).printed).toEqual(["each u1 9 0"]);
      expect((await full({ after: Number.MAX_SAFE_INTEGER })).printed).toEqual([]);
    });

    test("of open holds are found without a transfer, beside those of runs and keys", async () => {
      await eachUser();
      const run = scope("run", "r1");
      await env.limit("run", 8n, { keyId: undefined, scope: run });
      await env.limit("k1", 8n);
      await env.hold("a", 6n, { keyId: "k1", scopes: [P1, scope("end_user", "u1"), run] });
      expect((await full()).printed).toEqual(["each u1 0 6", "k1 - 0 6", "run - 0 6"]);
      expect((await full({ percent: 76 })).printed).toEqual([]);
      const list = (omitsRuns: boolean) =>
        env.ledger.spendLimits(env.walletId, undefined, undefined, { omitsRuns });
      expect((await list(true)).map(({ limitId }) => limitId)).toEqual(["each", "k1"]);
      expect((await list(false)).map(({ limitId }) => limitId)).toEqual(["each", "k1", "run"]);
    });

    test("are those of the current period, in force, and of no other wallet", async () => {
      await eachUser();
      await spendAs("a", "u1", 9n);
      const other = `${env.walletId}/full`;
      await env.ledger.createWallet(other);
      expect((await full({ after: 0 }, other)).printed).toEqual([]);
      expect((await full({ after: 0 })).printed).toEqual(["each u1 9 0"]);
      env.clock.nowMs = NOON_MS + DAY_MS;
      expect((await full({ after: 0 })).printed).toEqual([]);
      env.clock.nowMs = NOON_MS;
      await env.ledger.deleteSpendLimit({ walletId: env.walletId, limitId: "each" });
      expect((await full({ after: 0 })).printed).toEqual([]);
    });

    test("of a window are found until it ends", async () => {
      await env.limit("w", 10n, { keyId: undefined, scope: P1, each: "end_user", period: "5h" });
      await spendAs("a", "u1", 9n);
      expect((await full({ after: 0 })).printed).toEqual(["w u1 9 0"]);
      env.clock.nowMs += 5 * HOUR_MS;
      expect((await full({ after: 0 })).printed).toEqual([]);
    });

    test("of a window to come are found only while no other binds", async () => {
      await env.limit("w", 10n, { keyId: undefined, scope: P1, each: "end_user", period: "5h" });
      await spendAs("a", "u1", 1n);
      env.clock.nowMs = NOON_MS + 7 * HOUR_MS;
      await spendAs("b", "u1", 9n);
      for (const [hours, printed] of [
        [7, ["w u1 9 0"]],
        [6, ["w u1 9 0"]],
        [4, []],
        [2, []],
      ] as const) {
        env.clock.nowMs = NOON_MS + hours * HOUR_MS;
        expect([hours, (await full({ after: 0 })).printed]).toEqual([hours, [...printed]]);
      }
    });

    test("of an unknown wallet are none, and of a query that no ledger takes are declined", async () => {
      expect(await full({ after: 7 }, "wallet-none")).toEqual({ printed: [], end: 0, isAtEnd: true });
      for (const query of [{ percent: 0 }, { percent: 101 }, { percent: 0.5 }, { after: -1 }]) {
        const read = env.ledger.fullLimits(env.walletId, { percent: HALF, ...query });
        expect([query, await errorCodeOf(read)]).toEqual([query, "invalid_query"]);
      }
    });
  });
}
