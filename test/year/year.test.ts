import { expect, test } from "bun:test";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { createStripeClient } from "../../src/payments/stripe.ts";
import { openTempStorage } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { startScriptedStripe, WEBHOOK_SECRET } from "../support/scripted-stripe.ts";
import { createLocalDesk } from "./desk.ts";
import { Year } from "./year.ts";

const SEED = Number(process.env.TEST_YEAR_SEED ?? 7);
const ACCOUNTS = Number(process.env.TEST_YEAR_ACCOUNTS ?? 200);
const IS_FULL = process.env.TEST_YEAR === "full";
const SIZE = IS_FULL
  ? { accounts: ACCOUNTS, stepHours: 12, busy: 0.3 }
  : { accounts: 3, stepHours: 150, busy: 0.9 };

test("a year of accounts on five plans equals its reckoning to the nano, line by line", async () => {
  const storage = await openTempStorage("sqlite");
  const stripe = startScriptedStripe();
  stripe.books.nowMs = storage.now;
  const client = createStripeClient({
    secretKey: "sk_test_x",
    webhookSecret: WEBHOOK_SECRET,
    apiBase: stripe.url,
  });
  const desk = createLocalDesk({
    ...storage,
    ...{ stripe: client, mails: createMails(storage.database, storage.now), log: createCapturedLog() },
  });
  const year = new Year({
    storage,
    stripe,
    desk,
    options: {
      seed: SEED,
      days: 365,
      standstillDays: 7,
      finishDays: 60,
      auditsMonths: IS_FULL,
      isExact: true,
      onMonth: IS_FULL ? console.log : undefined,
      ...SIZE,
    },
  });
  const report = await year.play();
  if (IS_FULL) console.log(JSON.stringify(report));
  expect(report.accounts).toBe(SIZE.accounts);
  await stripe.stop();
  await storage.close();
}, 3_600_000);
