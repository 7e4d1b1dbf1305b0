import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { parseUsd } from "../../src/domain/money.ts";
import { openTempStorage, type TempStorage } from "../accounts/temp-storage.ts";
import { type ScriptedStripe, startScriptedStripe } from "../support/scripted-stripe.ts";
import { createDraw } from "../support/seeded-random.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { Gateways } from "./gateways.ts";
import { createSharedClock } from "./shared-clock.ts";
import { YEAR_FROM_MS, Year } from "./year.ts";

const SEED = Number(process.env.TEST_YEAR_SEED ?? 1);
const ACCOUNTS = Number(process.env.TEST_YEAR_ACCOUNTS ?? 200);
/** With `bun run year:gateways`, a whole year. */
const IS_FULL = process.env.TEST_YEAR === "gateways";
const SIZE = IS_FULL
  ? { accounts: ACCOUNTS, stepHours: 168, busy: 0.35, days: 365, standstillDays: 7, finishDays: 10 }
  : { accounts: 3, stepHours: 36, busy: 1, days: 6, standstillDays: 0, finishDays: 4 };
const KILLS = IS_FULL ? Number.POSITIVE_INFINITY : 2;
/** On a busy machine, a job of 200 accounts takes seconds. */
const LIFE_MS = IS_FULL ? Math.max(1_500, 75 * ACCOUNTS) : 1_500;
/** Calls of the shop, in lists that go on side by side. */
const [LISTS, CALLS] = IS_FULL ? [8, 12] : [4, 8];
const TEST_MS_MAX = 7_200_000;

let storage: TempStorage;
let stripe: ScriptedStripe;
let gateways: Gateways;
beforeAll(async () => {
  storage = await openTempStorage("postgres");
  const clockPath = join(tempFolder(), "clock");
  const clock = createSharedClock(clockPath, YEAR_FROM_MS);
  Object.defineProperty(storage.clock, "nowMs", {
    get: () => clock.nowMs,
    set: (ms: number) => {
      clock.nowMs = ms;
    },
  });
  stripe = startScriptedStripe();
  stripe.books.nowMs = storage.now;
  const setup = { location: storage.location, clockPath, stripeUrl: stripe.url };
  gateways = new Gateways(storage, setup, createDraw("deaths", SEED));
});
afterAll(async () => {
  await gateways.close();
  await stripe.stop();
  await storage.close();
});

test(
  "three gateways that are killed all the time grant each period once, and book each payment once",
  async () => {
    gateways.mayDie(KILLS, LIFE_MS);
    const onMonth = (month: string) => {
      if (IS_FULL) console.log(month, JSON.stringify(gateways.deaths));
    };
    const options = { seed: SEED, auditsMonths: IS_FULL, isExact: false, ...SIZE, onMonth };
    const report = await new Year({ storage, stripe, desk: gateways, options }).play();
    if (IS_FULL) console.log(JSON.stringify({ ...report, ...gateways.deaths }));
    expect([report.accounts, gateways.deaths.kills > 0]).toEqual([SIZE.accounts, true]);
  },
  TEST_MS_MAX,
);

test(
  "signed calls that deaths cut off are booked once, and take back at most their payment",
  async () => {
    gateways.mayDie(IS_FULL ? KILLS : 1, LIFE_MS);
    const { id: accountId } = await storage.newAccount("signed");
    const amount = parseUsd("1.000000001");
    const call = (caller: "shop" | "kiosk", id: string) =>
      gateways.act({
        ...{ kind: "pay_in", caller, id, accountId, amount },
        ...{ source: "purchase", expiresAtMs: undefined },
      });
    const back = (id: string, paymentId: string) =>
      gateways.act({ kind: "take_back", id, paymentId, amount: amount - 1n });
    const lists = Array.from({ length: LISTS }, async (_, list) => {
      const answers: string[] = [];
      for (let at = 0; at < CALLS; at += 1) {
        const id = `p-${list}-${at}`;
        await call("shop", id);
        // Of two reversals at once, what is left of the payment allows one.
        const both = await Promise.all([back(`a-${id}`, id), back(`b-${id}`, id)]);
        answers.push(...both.map((answer) => ("declined" in answer ? answer.declined : "taken")));
        const isTaken = !("declined" in (await call("kiosk", `k-${list}-${at}`)));
        answers.push(isTaken ? "kiosk" : "full");
      }
      return answers;
    });
    const answers = Map.groupBy((await Promise.all(lists)).flat(), (answer) => answer);
    const calls = LISTS * CALLS;
    const counts = Object.fromEntries([...answers].map(([answer, all]) => [answer, all.length]));
    // All calls of the kiosk are below the 100 USD of its day.
    expect(counts).toEqual({ taken: calls, conflict: calls, kiosk: calls });
    const { posted } = await storage.ledger.balances(accountId);
    expect(posted).toBe(BigInt(calls) * (amount + 1n));
    const { transfers } = await storage.ledger.journalTotals(accountId);
    expect(transfers).toBe(3 * calls);
  },
  TEST_MS_MAX,
);
