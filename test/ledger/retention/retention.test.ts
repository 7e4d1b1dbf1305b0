import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { errorCodeOf, FACTS, holdOf, NOON_MS, WALLET } from "../samples.ts";
import {
  chargeOf,
  DAY_MS,
  fillLedger,
  findingsOf,
  LATER_MS,
  moveTo,
  NEW,
  OLD,
  openOnPostgres,
  openOnSqlite,
  type RetainedLedger,
  retainAll,
} from "./env.ts";

const OLD_RECEIPTS = 4;
const walletId = WALLET;

/** What must outlive receipts. */
async function survivors({ ledger }: RetainedLedger) {
  const wallets = [WALLET, "overdrawn"];
  return {
    balances: await Promise.all(wallets.map((each) => ledger.balances(each))),
    transfers: await Promise.all(wallets.map((each) => ledger.transfers(each, { size: 100 }))),
    journal: await Promise.all(wallets.map((each) => ledger.journalTotals(each))),
    limits: await ledger.spendLimits(walletId),
    usage: await ledger.usage({ walletId: undefined, groupBy: ["day", "model", "outcome"] }),
    keys: await ledger.usage({ walletId, groupBy: ["key"] }),
  };
}

/** What is wrong, how it is made, and the invariants that find it. */
const DAMAGES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    "a lost capture of a dropped receipt",
    `DELETE FROM transfers WHERE hold_id = '${OLD.settled}' AND kind = 2`,
    ["I2", "I4", "I9", "U1"],
  ],
  [
    "an invented capture of a dropped receipt",
    `INSERT INTO transfers SELECT wallet_id, seq + 100, 'again', 4, debit_account, credit_account, amount, 0,
          hold_id, 0, NULL FROM transfers WHERE hold_id = '${OLD.settled}' AND kind = 2`,
    ["I2", "I4", "I9", "U1"],
  ],
  [
    "a changed record of dropped receipts",
    `UPDATE dropped_receipts SET captured_low = captured_low + 1 WHERE wallet_id = '${WALLET}'`,
    ["I9"],
  ],
  ["a lost record of dropped receipts", "DELETE FROM dropped_receipts", ["I8", "I9", "U6"]],
  ["a dropped receipt too many", "UPDATE dropped_receipts SET receipts = receipts + 1", ["U6"]],
  ["a lost counter of dropped receipts", "DELETE FROM dropped_counters", ["I6"]],
  ["a counter that lost its use", "UPDATE limit_counters SET used = 0 WHERE limit_id = 'month'", ["I6"]],
  ["a lost receipt after the dropped ones", `DELETE FROM holds WHERE hold_id = '${NEW}'`, ["I5", "I6", "U7"]],
  [
    "a changed receipt after the dropped ones",
    `UPDATE holds SET captured = captured - 1, refunded = 0 WHERE hold_id = '${NEW}'`,
    ["I5", "I6", "U7"],
  ],
];

function describeRetention(name: string, open: () => Promise<RetainedLedger>): void {
  describe(`retention in ${name}`, () => {
    let env: RetainedLedger;
    beforeEach(async () => {
      env = await open();
      await fillLedger(env);
    });
    afterEach(() => env.close());

    test("drops old receipts, and keeps transfers, balances, counters and usage", async () => {
      const { ledger } = env;
      const before = await survivors(env);
      expect(await retainAll(ledger, 30)).toEqual({ receipts: OLD_RECEIPTS, stopped: undefined });
      for (const holdId of [OLD.settled, OLD.released]) {
        expect(await ledger.receipt(walletId, holdId)).toBeUndefined();
      }
      expect(await ledger.receiptsById(OLD.late)).toEqual([]);
      const { items } = await ledger.receipts({ walletId: undefined }, { size: 100 });
      expect(items.map(({ holdId }) => holdId)).toEqual([NEW]);
      const filter = { walletId: undefined, outcome: FACTS.outcome, model: "demo" } as const;
      const matching = await ledger.receipts(filter, { size: 100 });
      expect(matching.items.map(({ holdId }) => holdId)).toEqual([NEW]);
      expect(await survivors(env)).toEqual(before);
      expect(await env.findings()).toEqual([]);
      expect(await retainAll(ledger, 30)).toMatchObject({ receipts: 0 });
    });

    test("keeps receipts until their days are summed up by scope", async () => {
      const { ledger } = env;
      // As a database is after an upgrade from a version that knew no scope days.
      await env.run("UPDATE usage_cursor SET scopes_from_ms = 0, scopes_to_ms = 0, scopes_version = 0");
      expect(await retainAll(ledger, 30)).toMatchObject({ receipts: 0 });
      await ledger.rollUp();
      expect(await retainAll(ledger, 30)).toMatchObject({ receipts: 0 });
      while (await ledger.rollUp());
      expect(await retainAll(ledger, 30)).toMatchObject({ receipts: OLD_RECEIPTS });
      expect(await env.findings()).toEqual([]);
    });

    test("a repeated command of a dropped receipt charges nothing", async () => {
      const { ledger } = env;
      const { receiptId } = await chargeOf(ledger);
      await retainAll(ledger, 30);
      const before = await survivors(env);
      expect(await chargeOf(ledger)).toMatchObject({ replayed: true, receiptId });
      expect(await ledger.topUp({ walletId, topUpId: "funds", amount: 100n })).toMatchObject({
        replayed: true,
      });
      const refund = { walletId, refundId: "r1", holdId: OLD.settled, amount: 4n };
      expect(await ledger.refund(refund)).toMatchObject({ replayed: true });
      const declined = [
        ledger.refund({ ...refund, refundId: "r2", amount: 1n }),
        ledger.settle({ walletId, holdId: OLD.settled, amount: 9n, facts: FACTS }),
        ledger.release({ walletId, holdId: OLD.released, facts: FACTS }),
        ledger.extend({ walletId, holdId: OLD.settled, accrued: 1n, ttlMs: 1_000 }),
        ledger.settle({ walletId: "overdrawn", holdId: OLD.late, amount: 9n, facts: FACTS }),
        ledger.hold(holdOf(10n, { holdId: OLD.settled })),
      ];
      expect(await Promise.all(declined.map(errorCodeOf))).toEqual([
        ...Array(5).fill("hold_not_found"),
        "invalid_id",
      ]);
      expect(await survivors(env)).toEqual(before);
      expect(await env.findings()).toEqual([]);
    });

    test("a repeated end that describes its hold is known by the transfers, and charges nothing", async () => {
      const { ledger } = env;
      await retainAll(ledger, 30);
      const before = await survivors(env);
      const { keyId, ttlMs, facts } = holdOf(10n);
      const end = { walletId, facts: FACTS, taken: { keyId, granted: 10n, ttlMs, facts } };
      const settled = { ...end, holdId: OLD.settled, amount: 9n };
      expect(await ledger.settle(settled)).toMatchObject({ state: "settled", captured: 9n, replayed: true });
      const late = { ...end, walletId: "overdrawn", holdId: OLD.late, amount: 5_000_000_000n };
      expect(await ledger.settle(late)).toMatchObject({ captured: 5_000_000_000n, replayed: true });
      const released = { ...end, holdId: OLD.released };
      expect(await ledger.release(released)).toMatchObject({ state: "released", replayed: true });
      const declined = [
        ledger.settle({ ...settled, amount: 10n }),
        ledger.settle({ ...settled, holdId: OLD.released, amount: 1n }),
        ledger.release({ ...end, holdId: OLD.settled }),
      ];
      expect(await Promise.all(declined.map(errorCodeOf))).toEqual(Array(3).fill("hold_not_found"));
      expect(await survivors(env)).toEqual(before);
      expect(await env.findings()).toEqual([]);
    });

    test("receipts whose amounts differ from their usage are not dropped", async () => {
      await env.run(`UPDATE holds SET captured = captured + 1 WHERE hold_id = '${OLD.settled}'`);
      expect(await retainAll(env.ledger, 30)).toEqual({ receipts: 0, stopped: "usage_differs" });
      expect(await env.ledger.receipt(walletId, OLD.settled)).toBeDefined();
      expect(await env.findings()).toEqual(["I5", "I6", "U7"]);
    });

    test("a missing receipt keeps the others of its time from being dropped", async () => {
      await env.run(`DELETE FROM holds WHERE hold_id = '${OLD.released}'`);
      expect(await retainAll(env.ledger, 30)).toEqual({ receipts: 0, stopped: "usage_differs" });
    });

    test("the audit after a drop finds what is wrong before and after its end", async () => {
      await retainAll(env.ledger, 30);
      expect(await env.findings()).toEqual([]);
      for (const [damage, sql, invariants] of DAMAGES) {
        expect([damage, await findingsOf(env, sql)]).toEqual([damage, [...invariants]]);
      }
      expect(await env.findings()).toEqual([]);
    });

    test("an open hold keeps its receipts, whatever its age", async () => {
      const { ledger, clock } = env;
      clock.nowMs = NOON_MS + 2_000;
      await ledger.hold(holdOf(1n, { ttlMs: 90 * DAY_MS }));
      clock.nowMs = LATER_MS;
      expect(await retainAll(ledger, 30)).toEqual({ receipts: 0, stopped: undefined });
      await ledger.release({ walletId, holdId: holdOf(1n).holdId, facts: FACTS });
      expect(await retainAll(ledger, 30)).toEqual({ receipts: 0, stopped: undefined });
      while (await ledger.rollUp());
      expect(await retainAll(ledger, 30)).toEqual({ receipts: OLD_RECEIPTS + 1, stopped: undefined });
      expect(await env.findings()).toEqual([]);
    });

    test("receipts that a reader still needs are kept", async () => {
      const keepFromMs = async () => NOON_MS - 3_600_000;
      expect(await env.ledger.retain({ receiptsDays: 30, keepFromMs })).toMatchObject({ receipts: 0 });
      expect(await env.ledger.receipt(walletId, OLD.settled)).toBeDefined();
    });

    test("a clock that jumps ahead drops nothing, and a day later it is believed", async () => {
      const { ledger, clock } = env;
      const nowMs = clock.nowMs;
      clock.nowMs += 400 * DAY_MS;
      while (await ledger.rollUp());
      expect(await retainAll(ledger, 90)).toEqual({ receipts: 0, stopped: "clock_jumped" });
      clock.nowMs = nowMs;
      expect(await retainAll(ledger, 90)).toEqual({ receipts: 0, stopped: undefined });
      clock.nowMs += 400 * DAY_MS;
      expect(await retainAll(ledger, 90)).toEqual({ receipts: 0, stopped: "clock_jumped" });
      clock.nowMs += DAY_MS + 1;
      expect(await retainAll(ledger, 90)).toEqual({ receipts: OLD_RECEIPTS + 1, stopped: undefined });
      expect(await env.findings()).toEqual([]);
    });

    test("two processes at once drop each receipt once", async () => {
      const other = await env.openAnother();
      // Takes the lease away, as when a process was suspended during its step.
      const dropAll = async () => {
        for (let steps = 0; steps < 3; steps++) {
          await env.run("DELETE FROM leases");
          await Promise.all([env.ledger.retain({ receiptsDays: 30 }), other.retain({ receiptsDays: 30 })]);
        }
      };
      await dropAll();
      const [row] = await env.run("SELECT CAST(sum(receipts) AS text) AS receipts FROM dropped_receipts");
      expect(row?.receipts).toBe(`${OLD_RECEIPTS}`);
      expect(await env.findings()).toEqual([]);
    });

    test("a retention that is raised again keeps what is left", async () => {
      const { ledger } = env;
      await retainAll(ledger, 30);
      expect(await retainAll(ledger, 365)).toEqual({ receipts: 0, stopped: undefined });
      await moveTo(env, LATER_MS + 90 * DAY_MS);
      expect(await retainAll(ledger, 365)).toEqual({ receipts: 0, stopped: undefined });
      expect(await retainAll(ledger, 1)).toEqual({ receipts: 1, stopped: undefined });
      expect(await env.findings()).toEqual([]);
    });
  });
}

describeRetention("SQLite", openOnSqlite);
describeRetention("PostgreSQL", openOnPostgres);

test("retention in PostgreSQL drops receipts of the default partition by hours", async () => {
  const env = await openOnPostgres(true);
  await fillLedger(env);
  const before = await survivors(env);
  expect(await retainAll(env.ledger, 30)).toEqual({ receipts: OLD_RECEIPTS, stopped: undefined });
  expect(await survivors(env)).toEqual(before);
  expect(await env.findings()).toEqual([]);
  expect(await retainAll(env.ledger, 1)).toEqual({ receipts: 0, stopped: undefined });
  await env.close();
});

test.each([
  ["months", false],
  ["hours", true],
] as const)(
  "retention of %s in PostgreSQL leaves sums whole, also while the roll-ups change between all reads",
  async (_, isDefault) => {
    const env = await openOnPostgres(isDefault);
    await fillLedger(env);
    const usage = () => env.ledger.usage({ walletId, groupBy: ["key"] });
    const before = await usage();
    await retainAll(env.ledger, 30);
    await changeAtEachRead(env);
    expect(await usage()).toEqual(before);
    const own = { walletId, keyId: undefined, period: "total", amount: 90n } as const;
    await env.ledger.setSpendLimit({ ...own, limitId: "key", keyId: "k1" });
    const scope = { kind: "project", id: walletId } as const;
    await env.ledger.setSpendLimit({ ...own, limitId: "project", scope });
    const limits = await env.ledger.spendLimits(walletId);
    const used = Object.fromEntries(limits.map((limit) => [limit.limitId, limit.used]));
    expect(used).toMatchObject({ total: 18n, key: 18n, project: 18n });
    await env.close();
  },
);

/** Lets each statement find another version of the roll-ups, as if their job wrote without a pause. */
async function changeAtEachRead({ run }: RetainedLedger): Promise<void> {
  await run("ALTER TABLE usage_cursor RENAME TO written_cursor");
  await run("CREATE SEQUENCE changes");
  // In the order of the table, whose statements are prepared.
  await run(`CREATE VIEW usage_cursor AS SELECT id, change AS version, hours_from_ms, hours_to_ms, days_from_ms,
      days_to_ms, totals_from_ms, change AS totals_version, scopes_from_ms, scopes_to_ms, change AS scopes_version
    FROM written_cursor CROSS JOIN (SELECT nextval('changes') AS change OFFSET 0) AS c`);
}
