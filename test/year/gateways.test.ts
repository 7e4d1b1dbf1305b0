import { expect, test } from "bun:test";
import { join } from "node:path";
import { openTempStorage } from "../accounts/temp-storage.ts";
import { startScriptedStripe } from "../support/scripted-stripe.ts";
import { createDraw } from "../support/seeded-random.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { Gateways } from "./gateways.ts";
import { createSharedClock } from "./shared-clock.ts";
import { YEAR_FROM_MS, Year } from "./year.ts";

const SEED = Number(process.env.TEST_YEAR_SEED ?? 1);
/** With `bun run year:gateways`, a whole year. */
const IS_FULL = process.env.TEST_YEAR === "gateways";
const SIZE = IS_FULL
  ? {
      accounts: 200,
      stepHours: 24,
      busy: 0.3,
      days: 365,
      standstillDays: 7,
      finishDays: 60,
      kills: Number.POSITIVE_INFINITY,
    }
  : { accounts: 5, stepHours: 24, busy: 1, days: 6, standstillDays: 0, finishDays: 6, kills: 8 };

test("three gateways that are killed all the time grant each period once, and book each payment once", async () => {
  const storage = await openTempStorage("postgres");
  const clockPath = join(tempFolder(), "clock");
  const clock = createSharedClock(clockPath, YEAR_FROM_MS);
  Object.defineProperty(storage.clock, "nowMs", {
    get: () => clock.nowMs,
    set: (ms: number) => {
      clock.nowMs = ms;
    },
  });
  const stripe = startScriptedStripe();
  stripe.books.nowMs = storage.now;
  const setup = { location: storage.location, clockPath, stripeUrl: stripe.url };
  const gateways = new Gateways(storage, setup, createDraw("deaths", SEED), SIZE.kills);
  const options = {
    seed: SEED,
    auditsMonths: IS_FULL,
    isExact: false,
    ...SIZE,
    onMonth: IS_FULL ? console.log : undefined,
  };
  const report = await new Year({ storage, stripe, desk: gateways, options }).play();
  if (IS_FULL) console.log(JSON.stringify({ ...report, ...gateways.deaths }));
  expect([report.accounts, gateways.deaths.kills > 0]).toEqual([SIZE.accounts, true]);
  await gateways.close();
  await stripe.stop();
  await storage.close();
}, 7_200_000);
