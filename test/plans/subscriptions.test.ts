import { beforeEach, describe, expect, test } from "bun:test";
import { EditConflict, findAccount } from "../../src/accounts/accounts.ts";
import { type AuditActor, listAuditEntries } from "../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { markupOf, setMarkup } from "../../src/accounts/markup.ts";
import { suspendAccount } from "../../src/accounts/suspension.ts";
import { parseMarkup, parseUsd, printUsd } from "../../src/domain/money.ts";
import type { Plan } from "../../src/domain/plan.ts";
import { LedgerError } from "../../src/ledger/ledger.ts";
import { bookCorrection, bookTopUp } from "../../src/payments/bookings.ts";
import type { PlanParts } from "../../src/plans/booking.ts";
import { runPlanPass } from "../../src/plans/pass.ts";
import { command, previewCommand, previewSubscribe, subscribe } from "../../src/plans/plans.ts";
import { findSubscription, listGrants, listSubscriptions } from "../../src/plans/reads.ts";
import type { PlanMetrics } from "../../src/telemetry/plan-metrics.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";
import { PRO } from "./samples.ts";

const OPERATOR: AuditActor = { kind: "person", id: "o", name: "operator@example.com" };
const LIMITED: Plan = {
  ...PRO,
  id: "limited",
  models: ["m1", "m2"],
  markup: parseMarkup("1.25"),
  limits: [
    { amount: parseUsd("5"), period: "day" },
    { amount: parseUsd("60"), period: "month" },
  ],
};
const MAX: Plan = { ...PRO, id: "max", name: "Max", grant: parseUsd("50") };
const at = (text: string) => Date.parse(`${text}T00:00Z`);

describe.each(DIALECTS)("subscriptions in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
  });

  const passOf = async (parts: PlanParts = storage) => {
    const log = createCapturedLog();
    await runPlanPass({ ...parts, log });
    return log.text();
  };
  const begin = (plan: Plan = PRO, parts: PlanParts = storage) =>
    subscribe(parts, OPERATOR, { accountId, plan });
  const posted = async () => printUsd((await storage.ledger.balances(accountId)).posted);
  const limits = async () =>
    (await storage.ledger.spendLimits(accountId)).map(({ amount, period, keyId }) => [
      printUsd(amount),
      period,
      keyId,
    ]);
  const grantsOf = (id: string) => listGrants(storage.database, id, 100);

  const toppedUp = async () => {
    const { items } = await storage.ledger.transfers(accountId, { size: 50 });
    return items.filter(({ kind }) => kind === "top_up");
  };

  /** A ledger that is away, or whose answer is lost after it has booked a top-up. */
  function withLedger(books: boolean): PlanParts {
    const topUp: PlanParts["ledger"]["topUp"] = async (request) => {
      if (books) await storage.ledger.topUp(request);
      throw new LedgerError("unavailable");
    };
    const { spendLimits, setSpendLimit, deleteSpendLimit } = storage.ledger;
    return { ...storage, ledger: { topUp, spendLimits, setSpendLimit, deleteSpendLimit } };
  }

  test("no other top-up or correction takes the id of a plan's credit, by any entrance", async () => {
    const { id } = await begin();
    const ids = [`plan-${id}-1`, `plan-${id}-0-raise-2`];
    const code = (call: Promise<unknown>) => call.then(String, (fault) => fault.code);
    for (const topUpId of ids) {
      const topUp = { walletId: accountId, topUpId, amount: 1n };
      expect(await code(storage.ledger.topUp(topUp))).toBe("invalid_id");
      expect(await code(storage.ledger.topUp({ ...topUp, amount: -1n, source: "plan" }))).toBe("invalid_id");
      const booking = { accountId, id: topUpId, amount: 1n, source: "plan" } as const;
      expect(await code(bookTopUp(storage, OPERATOR, booking))).toBe("invalid_id");
      expect(await code(bookCorrection(storage, OPERATOR, booking))).toBe("invalid_id");
    }
    await bookTopUp(storage, OPERATOR, { accountId, id: "plan-of-june", amount: 1n });
    storage.clock.nowMs = at("2026-07-01");
    await passOf();
    expect((await grantsOf(id)).every(({ bookedAtMs }) => bookedAtMs !== undefined)).toBe(true);
  });

  test("the job counts the periods that it began, and the steps that failed", async () => {
    const counts = { periods: 0, failures: 0 };
    const metrics: PlanMetrics = {
      granted: (periods) => {
        counts.periods += periods;
      },
      failed: () => {
        counts.failures += 1;
      },
    };
    await begin();
    storage.clock.nowMs = at("2026-09-01");
    const log = createCapturedLog();
    await runPlanPass({ ...withLedger(false), log, metrics });
    expect(counts).toEqual({ periods: 3, failures: 3 });
    await runPlanPass({ ...storage, log, metrics });
    expect(counts).toEqual({ periods: 3, failures: 3 });
  });

  test("a subscription grants its first period at once, and each later one at its time", async () => {
    const { id } = await begin();
    expect(await posted()).toBe("20.00");
    await passOf();
    expect(await posted()).toBe("20.00");
    storage.clock.nowMs = at("2026-07-01");
    await passOf();
    expect((await grantsOf(id)).map((grant) => [grant.id, grant.bookedAtMs !== undefined])).toEqual([
      [`plan-${id}-1`, true],
      [`plan-${id}-0`, true],
    ]);
    expect((await toppedUp()).map(({ transferId, amount }) => [transferId, amount])).toEqual([
      [`plan-${id}-1`, PRO.grant],
      [`plan-${id}-0`, PRO.grant],
    ]);
  });

  test("four gateways that pass at once grant each period of a standstill once", async () => {
    const { id } = await begin();
    storage.clock.nowMs = at("2026-10-15");
    await Promise.all(Array.from({ length: 4 }, () => passOf()));
    expect(await grantsOf(id)).toHaveLength(5);
    expect((await toppedUp()).map(({ transferId }) => transferId).toSorted()).toEqual(
      [0, 1, 2, 3, 4].map((period) => `plan-${id}-${period}`),
    );
  });

  test("a credit is granted by the next pass when the ledger was away", async () => {
    const { id } = await begin(PRO, withLedger(false));
    expect(await grantsOf(id)).toMatchObject([{ period: 0, bookedAtMs: undefined }]);
    const text = await passOf(withLedger(false));
    expect([text.includes(`plan-${id}-0`), text.includes('"ledgerCode":"unavailable"')]).toEqual([
      true,
      true,
    ]);
    await passOf();
    await passOf();
    expect(await grantsOf(id)).toMatchObject([{ period: 0, bookedAtMs: storage.now() }]);
  });

  test("a credit whose answer was lost, or whose process died before its record, is not granted again", async () => {
    const { id } = await begin(PRO, withLedger(true));
    expect(await grantsOf(id)).toMatchObject([{ bookedAtMs: undefined }]);
    storage.clock.nowMs += 3_600_000;
    await passOf();
    expect(await toppedUp()).toHaveLength(1);
    expect(await grantsOf(id)).toMatchObject([{ bookedAtMs: storage.now() }]);
  });

  test("a credit whose end passed while the ledger was away is granted with another end, by two gateways alike", async () => {
    const { id } = await begin({ ...PRO, lateDays: 3 }, withLedger(false));
    storage.clock.nowMs = at("2026-08-15");
    await Promise.all([passOf(), passOf()]);
    await passOf();
    const [third, second, first] = await grantsOf(id);
    expect(first).toMatchObject({ period: 0, expiresAtMs: at("2026-08-18"), bookedAtMs: storage.now() });
    expect([second?.expiresAtMs, third?.expiresAtMs]).toEqual([at("2026-08-18"), at("2026-09-01")]);
    expect(await posted()).toBe("60.00");
    expect(await toppedUp()).toHaveLength(3);
  });

  test("an account has one subscription at a time, whoever is first of two", async () => {
    const both = await Promise.allSettled([begin(), begin(MAX)]);
    expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(begin()).rejects.toMatchObject({ kind: "conflict" });
    await expect(previewSubscribe(storage, { accountId, plan: PRO })).rejects.toMatchObject({
      kind: "conflict",
    });
    const { items } = await listSubscriptions(storage.database, { accountId, isLive: true, size: 10 });
    const [live] = items;
    await command(storage, OPERATOR, {
      subscriptionId: live?.id ?? "",
      command: { kind: "cancel", when: "now" },
    });
    await begin();
    expect((await listSubscriptions(storage.database, { accountId, size: 10 })).items).toHaveLength(2);
  });

  test("an account that nobody has, and a zone that is none, are refused", async () => {
    const wrong = { accountId: "nobody", plan: PRO };
    await expect(subscribe(storage, OPERATOR, wrong)).rejects.toMatchObject({ kind: "unknown_item" });
    const zone = { accountId, plan: PRO, timeZone: "Mars/Olympus" };
    await expect(subscribe(storage, OPERATOR, zone)).rejects.toMatchObject({ kind: "wrong_shape" });
  });

  test("models, markup and spending limits come with the plan and go with the subscription", async () => {
    const { secret } = await issueKey(storage, { accountId, name: "k", models: ["m2", "m3"] });
    const { secret: open } = await issueKey(storage, { accountId, name: "open" });
    const callerOf = async (which: string) => {
      const { key, markup } = await createAuthenticate({ database: storage.database })(which);
      return [key.models, markup];
    };
    const { id } = await begin(LIMITED);
    expect(await callerOf(secret)).toEqual([["m2"], parseMarkup("1.25")]);
    expect(await callerOf(open)).toEqual([["m1", "m2"], parseMarkup("1.25")]);
    expect(await limits()).toEqual([
      ["5.00", "day", undefined],
      ["60.00", "month", undefined],
    ]);
    await command(storage, OPERATOR, { subscriptionId: id, command: { kind: "pause" } });
    expect(await limits()).toHaveLength(2);
    await command(storage, OPERATOR, { subscriptionId: id, command: { kind: "cancel", when: "period_end" } });
    expect(await callerOf(open)).toEqual([["m1", "m2"], parseMarkup("1.25")]);
    storage.clock.nowMs = at("2026-07-01");
    await passOf();
    expect(await callerOf(secret)).toEqual([["m2", "m3"], undefined]);
    expect(await callerOf(open)).toEqual([undefined, undefined]);
    expect(await limits()).toEqual([]);
    expect(await findSubscription(storage.database, id)).toMatchObject({
      state: "ended",
      endedAtMs: at("2026-07-01"),
    });
  });

  test("an account's own markup goes before that of its plan", async () => {
    await begin(LIMITED);
    const markup = async () => {
      const account = await findAccount(storage.database, accountId);
      return account && markupOf(account);
    };
    expect(await markup()).toBe(parseMarkup("1.25"));
    const own = { accountId, markup: parseMarkup("1.1"), reason: "contract" };
    await setMarkup(storage, OPERATOR, own);
    expect(await markup()).toBe(parseMarkup("1.1"));
  });

  test("spending limits that the ledger did not take are set by the next pass, and those of a change replace them", async () => {
    const setSpendLimit = async () => Promise.reject(new LedgerError("unavailable"));
    const { topUp, spendLimits, deleteSpendLimit } = storage.ledger;
    const { id } = await begin(LIMITED, {
      ...storage,
      ledger: { topUp, spendLimits, deleteSpendLimit, setSpendLimit },
    });
    expect(await limits()).toEqual([]);
    expect(await findSubscription(storage.database, id)).toMatchObject({ version: 1, appliedVersion: 0 });
    await passOf();
    expect(await limits()).toHaveLength(2);
    const plan = { ...LIMITED, limits: [{ amount: parseUsd("7"), period: "week" as const }] };
    await command(storage, OPERATOR, { subscriptionId: id, command: { kind: "change", plan } });
    expect(await limits()).toEqual([["7.00", "week", undefined]]);
    expect(await findSubscription(storage.database, id)).toMatchObject({ version: 2, appliedVersion: 2 });
  });

  test("a plan that is removed from the file, or changed there, stays as it was for those who have it", async () => {
    const { id } = await begin(LIMITED);
    storage.clock.nowMs = at("2026-07-01");
    await passOf();
    expect(await findSubscription(storage.database, id)).toMatchObject({ plan: LIMITED, nextPeriod: 2 });
  });

  test("an upgrade is granted once, however often it is sent", async () => {
    const { id, version } = await begin();
    storage.clock.nowMs = at("2026-06-16");
    const upgrade = { subscriptionId: id, command: { kind: "change" as const, plan: MAX }, version };
    const sent = await Promise.allSettled([1, 2, 3].map(() => command(storage, OPERATOR, upgrade)));
    expect(sent.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(sent.flatMap((each) => (each.status === "rejected" ? [each.reason] : []))).toEqual([
      expect.any(EditConflict),
      expect.any(EditConflict),
    ]);
    // Half of 30 USD: 15 of 30 days are left.
    expect(await posted()).toBe("35.00");
  });

  test("a preview is what the command then does, and changes nothing", async () => {
    const { id } = await begin();
    storage.clock.nowMs = at("2026-06-16");
    const change = { subscriptionId: id, command: { kind: "change" as const, plan: MAX } };
    const { grants, after } = await previewCommand(storage, change);
    expect(await posted()).toBe("20.00");
    expect((await findSubscription(storage.database, id))?.version).toBe(1);
    const changed = await command(storage, OPERATOR, change);
    expect({ ...changed, appliedVersion: 0 }).toEqual({ ...after, appliedVersion: 0 });
    expect(await posted()).toBe(printUsd(PRO.grant + (grants[0]?.amount ?? 0n)));
  });

  test("a suspended account gets the credit of its periods, which it can spend once it is resumed", async () => {
    await begin();
    await suspendAccount(storage, OPERATOR, accountId, "unpaid");
    storage.clock.nowMs = at("2026-07-01");
    expect(await passOf()).toBe("");
    expect(await toppedUp()).toHaveLength(2);
  });

  test("every change has an audit entry, and none shows a markup", async () => {
    const { id } = await begin(LIMITED);
    const send = (of: Parameters<typeof command>[2]["command"]) =>
      command(storage, OPERATOR, { subscriptionId: id, command: of });
    await send({ kind: "pause" });
    await send({ kind: "resume" });
    await send({ kind: "change", plan: MAX });
    await send({ kind: "cancel", when: "period_end" });
    storage.clock.nowMs = at("2026-07-01");
    await passOf();
    await passOf();
    const entries = await listAuditEntries(
      storage.database,
      { accountId, action: "subscription" },
      { size: 20, after: undefined },
    );
    expect(entries.map(({ action, target, actorKind }) => [action, target === id, actorKind])).toEqual([
      ["subscription.ended", true, "system"],
      ["subscription.cancelled", true, "person"],
      ["subscription.changed", true, "person"],
      ["subscription.resumed", true, "person"],
      ["subscription.paused", true, "person"],
      ["subscription.created", true, "person"],
    ]);
    expect(JSON.stringify(entries)).not.toContain("markup");
  });
});
