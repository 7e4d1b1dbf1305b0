import { beforeEach, expect, test } from "bun:test";
import {
  runPlanList,
  runSubscriptionCancel,
  runSubscriptionChange,
  runSubscriptionCreate,
  runSubscriptionList,
  runSubscriptionPause,
  runSubscriptionResume,
  runSubscriptionShow,
} from "../../src/cli/subscription.ts";
import { parseUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { storageForTests } from "../accounts/temp-storage.ts";
import { configFolder } from "../config/temp-config.ts";
import { PRO } from "../plans/samples.ts";
import { runTollgate } from "./run-tollgate.ts";

const storage = storageForTests();
beforeEach(async () => {
  storage.clock.nowMs = Date.now();
  await storage.newAccount("acme");
});

const ACME = { account: "acme" };
const MAX: Plan = { ...PRO, id: "max", name: "Max", grant: parseUsd("50") };
const PLANS = [PRO, MAX];
const posted = async () => {
  const { json } = await runSubscriptionShow(storage, ACME);
  return (await storage.ledger.balances(String(json.account_id))).posted;
};
const create = (more = {}) =>
  runSubscriptionCreate(storage, { ...ACME, plan: "pro", yes: true, ...more }, PLANS);

test("plan list shows the plans of the file", () => {
  const { json, text } = runPlanList(PLANS);
  expect(json).toMatchObject({ plans: [{ id: "pro", grant_usd: "20.00" }, { id: "max" }] });
  expect(text.split("\n")[1]).toMatch(/^pro +Pro +month +20\.00 +18\.00$/);
});

test("without --yes a command shows what it would do, changes nothing and fails", async () => {
  const preview = await create({ yes: false });
  expect(preview).toMatchObject({ failed: true, json: { changed: false, preview: { plan: "pro" } } });
  expect(preview.text).toStartWith(
    "Nothing was changed. With --yes:\n  20.00 USD are granted now for a period",
  );
  await expect(runSubscriptionShow(storage, ACME)).rejects.toThrow("Account acme has no subscription.");
});

test("a subscription is created, changed, paused, resumed, cancelled and listed", async () => {
  expect(await create()).toMatchObject({
    json: { changed: true, state: "active", plan: { id: "pro" } },
    text: "Subscribed account acme to plan Pro.",
  });
  await expect(create()).rejects.toThrow("The account has a subscription already.");
  expect(await posted()).toBe(parseUsd("20"));
  await runSubscriptionChange(storage, { ...ACME, plan: "max", yes: true }, PLANS);
  expect(await posted()).toBeGreaterThan(parseUsd("49.99"));
  await runSubscriptionPause(storage, { ...ACME, yes: true });
  await expect(runSubscriptionPause(storage, { ...ACME, yes: true })).rejects.toThrow("paused already");
  await runSubscriptionResume(storage, { ...ACME, yes: true });
  await runSubscriptionCancel(storage, { ...ACME, yes: true });
  const { json, text } = await runSubscriptionShow(storage, ACME);
  expect(json).toMatchObject({
    state: "active",
    next_period_at: null,
    grants: [{ kind: "raise" }, { period: 0 }],
  });
  expect(text).toStartWith("Account acme: plan Max, active, ends ");
  expect((await runSubscriptionList(storage, {})).json.subscriptions).toHaveLength(1);
  await runSubscriptionCancel(storage, { ...ACME, when: "now", yes: true });
  expect((await runSubscriptionList(storage, {})).json.subscriptions).toEqual([]);
  expect((await runSubscriptionList(storage, { all: true })).json.subscriptions).toMatchObject([
    { state: "ended" },
  ]);
  await expect(runSubscriptionResume(storage, { ...ACME, yes: true })).rejects.toThrow("has not ended");
  expect((await runSubscriptionShow(storage, ACME)).json.state).toBe("ended");
});

test("an unknown plan and a zone that is none are refused with a sentence", async () => {
  await expect(create({ plan: "none" })).rejects.toThrow('There is no plan "none".');
  await expect(create({ timeZone: "Nowhere" })).rejects.toMatchObject({ exitCode: 2 });
});

test("the commands read the plans of the configuration file, without the keys of its upstreams", async () => {
  const folder = configFolder(`
upstreams: { up: { protocol: openai, base_url: "https://up.example/v1", api_key: "\${UNSET_KEY}" } }
plans: { pro: { period: month, grant: "20.00" } }
`);
  const listed = await runTollgate(folder, ["plan", "list", "--json"]);
  expect(listed.json()).toMatchObject({ plans: [{ id: "pro", name: "pro", grant_usd: "20.00" }] });
  await runTollgate(folder, ["account", "create", "--name", "acme"]);
  const begun = await runTollgate(folder, [
    "subscription",
    "create",
    "--account",
    "acme",
    "--plan",
    "pro",
    "--json",
  ]);
  expect([begun.exitCode, begun.json().changed]).toEqual([1, false]);
  const made = await runTollgate(folder, [
    ...["subscription", "create", "--account", "acme", "--plan", "pro", "--yes", "--json"],
  ]);
  expect(made.json()).toMatchObject({ changed: true, state: "active" });
});
