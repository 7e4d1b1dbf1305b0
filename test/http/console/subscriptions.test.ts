import { beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { readPayments } from "../../../src/config/payments.ts";
import { parseMarkup, parseUsd } from "../../../src/domain/money.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { PRO } from "../../plans/samples.ts";
import { openForTests } from "../../support/open-for-tests.ts";
import { openConsoleOn } from "./open-consoles.ts";

const MAX: Plan = { ...PRO, id: "max", name: "Max", grant: parseUsd("50"), markup: parseMarkup("1.5") };
const SETTINGS = {
  publicUrl: "http://console.test",
  signUp: "open",
  isDemoOnly: false,
  payments: readPayments({}),
  trustedProxies: [],
} as const;

describe.each(DIALECTS)("subscriptions of the management API in %s", (dialect) => {
  const console = openForTests(
    () => openConsoleOn(dialect, { settings: { ...SETTINGS, plans: [PRO, MAX] } }),
    (opened) => opened.stop(),
    "suite",
  );
  let operator: Actor;
  beforeAll(async () => {
    operator = await addPerson(console.parts.database, { isOperator: true });
  });

  const post = (path: string, body?: object) => console.call(operator, "POST", `/operator${path}`, body);
  const get = (path: string) => console.call(operator, "GET", `/operator${path}`);
  const begin = async (plan = "pro") => {
    const { id } = await console.newAccount();
    const { status, json } = await post(`/accounts/${id}/subscription`, { plan, reason: "contract" });
    expect(status).toBe(200);
    return { accountId: id, subscription: json };
  };

  test("the plans of the file are listed", async () => {
    const { json } = await get("/plans");
    expect(json.items).toMatchObject([
      { id: "pro", name: "Pro", period: "month", grant_usd: "20.00", markup: null, price_usd: "18.00" },
      { id: "max", grant_usd: "50.00", markup: "1.50" },
    ]);
  });

  test("an account is subscribed after a preview that grants nothing", async () => {
    const { id } = await console.newAccount();
    const preview = await post(`/accounts/${id}/subscription/preview`, { plan: "pro" });
    expect(preview.json).toMatchObject({ state: "active", plan: "pro", grants: [{ amount_usd: "20.00" }] });
    expect((await console.parts.ledger.balances(id)).posted).toBe(0n);
    const { json } = await post(`/accounts/${id}/subscription`, {
      plan: "pro",
      time_zone: "Asia/Tokyo",
      reason: "contract",
    });
    expect(json).toMatchObject({
      account_id: id,
      state: "active",
      period: 0,
      time_zone: "Asia/Tokyo",
      version: 1,
    });
    expect((await console.parts.ledger.balances(id)).posted).toBe(PRO.grant);
    const shown = await get(`/subscriptions/${json.id}`);
    expect(shown.json.grants).toMatchObject([
      { id: `plan-${json.id}-0`, kind: "period", amount_usd: "20.00" },
    ]);
    expect((await get(`/subscriptions?account=${id}`)).json).toMatchObject({
      items: [{ id: json.id }],
      next: null,
    });
  });

  test("a second subscription, an unknown plan, a zone that is none and an unknown account are refused", async () => {
    const { accountId } = await begin();
    const subscribe = (id: string, body: object) =>
      post(`/accounts/${id}/subscription`, { reason: "r", ...body });
    expect((await subscribe(accountId, { plan: "pro" })).status).toBe(409);
    const { id } = await console.newAccount();
    expect((await subscribe(id, { plan: "none" })).status).toBe(404);
    expect((await subscribe(id, { plan: "pro", time_zone: "Nowhere" })).status).toBe(422);
    expect((await subscribe(Bun.randomUUIDv7(), { plan: "pro" })).status).toBe(404);
    expect((await get(`/subscriptions/${Bun.randomUUIDv7()}`)).status).toBe(404);
  });

  test("an upgrade of an older version is answered with the subscription as it is", async () => {
    const { accountId, subscription } = await begin();
    const upgrade = { action: "change", plan: "max", version: 1, reason: "asked for it" };
    const preview = await post(`/subscriptions/${subscription.id}/preview`, {
      action: "change",
      plan: "max",
    });
    expect(preview.json).toMatchObject({ plan: "max", grants: [{ kind: "raise" }] });
    const first = await post(`/subscriptions/${subscription.id}`, upgrade);
    expect(first.json).toMatchObject({ plan: { id: "max", markup: "1.50" }, version: 2 });
    const again = await post(`/subscriptions/${subscription.id}`, upgrade);
    expect([again.status, again.json.current.version]).toEqual([409, 2]);
    expect((await console.parts.ledger.transfers(accountId, { size: 10 })).items).toHaveLength(2);
  });

  test("pause, resume and cancel change it, and what its state forbids is refused with a sentence", async () => {
    const { subscription } = await begin();
    const send = (action: string, version: number, more = {}) =>
      post(`/subscriptions/${subscription.id}`, { action, version, reason: "r", ...more });
    expect((await send("pause", 1)).json).toMatchObject({ state: "paused", next_period_at: null });
    const twice = await send("pause", 2);
    expect([twice.status, twice.json.error.message]).toEqual([409, "The subscription is paused already."]);
    expect((await send("resume", 2)).json).toMatchObject({ state: "active", period: 0 });
    expect((await send("cancel", 3)).json).toMatchObject({ ends_at: subscription.period_ends_at });
    expect((await send("cancel", 4, { when: "now" })).json).toMatchObject({ state: "ended" });
    expect((await send("change", 5)).status).toBe(422);
  });

  test("members of the account see its subscription without a markup, and others see none", async () => {
    const { accountId } = await begin("max");
    const viewer = await addMember(console.parts.database, accountId, "viewer");
    const { json, text } = await console.call(viewer, "GET", `/accounts/${accountId}/subscription`);
    const { grants, period, period_granted_usd, period_spent_usd } = json.subscription;
    expect(grants.some((grant: { period: number }) => grant.period === period)).toBe(true);
    expect([period_granted_usd, period_spent_usd]).toEqual([grants[0].amount_usd, "0.00"]);
    expect(json.subscription).toMatchObject({
      plan: { id: "max", markup: null },
      grants: [{ amount_usd: "50.00" }],
    });
    expect(text).not.toContain("1.50");
    const { id } = await console.newAccount();
    const other = await addMember(console.parts.database, id, "owner");
    expect((await console.call(other, "GET", `/accounts/${accountId}/subscription`)).status).toBe(404);
    expect((await console.call(other, "GET", `/accounts/${id}/subscription`)).json).toEqual({
      subscription: null,
    });
    expect((await console.call(other, "GET", "/operator/subscriptions")).status).toBe(403);
  });
});
