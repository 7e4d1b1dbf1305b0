import { beforeEach, describe, expect, test } from "bun:test";
import { SYSTEM } from "../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { createMakeChild } from "../../src/accounts/keys/child-keys.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { parseUsd } from "../../src/domain/money.ts";
import { raiseTest } from "../../src/notices/episodes.ts";
import { countTests, countUnread, listDeliveries, listNotices } from "../../src/notices/notices.ts";
import { NoticePass } from "../../src/notices/pass.ts";
import { createRule, deleteRule, type NewRule, updateRule } from "../../src/notices/rules.ts";
import { publishAttempts } from "../../src/notices/upstream-attempts.ts";
import { sweepNotices } from "../../src/notices/watch.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const CALM_MS = 60_000;
const LOW: NewRule = {
  kind: "balance_below",
  threshold: "10",
  emails: ["ann@example.com", "bob@example.com"],
  webhookUrl: "https://hooks.example.com/x",
};
const FACTS = { surface: "chat", model: "m" };

describe.each(DIALECTS)("on %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let pass: NoticePass;
  beforeEach(async () => {
    ({ id: accountId } = await storage.newAccount());
    pass = newPass();
  });

  function newPass(database = storage.database): NoticePass {
    const { ledger, now } = storage;
    const log = createCapturedLog();
    return new NoticePass({ database, ledger, now, log, mails: createMails(database, now) }, CALM_MS);
  }
  const parts = () => ({ database: storage.database, now: storage.now, allowsLoopback: false });
  const addRule = (rule: Partial<NewRule> = {}) =>
    createRule(parts(), SYSTEM, accountId, { ...LOW, ...rule });
  const topUp = (usd: string) =>
    storage.ledger.topUp({ walletId: accountId, topUpId: crypto.randomUUID(), amount: parseUsd(usd) });
  const hold = (usd: string, keyId = "k") => {
    const holdId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const amount = parseUsd(usd);
    const request = {
      walletId: accountId,
      holdId,
      keyId,
      amount,
      minimum: amount,
      ttlMs: 3_600_000,
      facts: FACTS,
    };
    return storage.ledger.hold(request).then(() => holdId);
  };
  const raised = async () =>
    (await listNotices(storage.database, accountId, { page: undefined, size: 50 })).items;
  const passAfter = async (ms: number) => {
    storage.clock.nowMs += ms;
    await pass.run();
  };

  test("the tests of the last hour are counted by their kind, in whatever order its JSON names it", async () => {
    const rule = await addRule();
    await raiseTest({ ...parts(), mails: createMails(storage.database, storage.now) }, rule);
    const { notices } = storage.database.tables;
    const reordered = JSON.stringify({ text: "", threshold: "0", value: "0", kind: "test" });
    await storage.database.transact((tx) => tx.update(notices).set({ data: reordered }));
    await topUp("9.5");
    await pass.run();
    expect(await countTests(storage.database, accountId, storage.now() - 3_600_000)).toBe(1);
    expect(await countTests(storage.database, accountId, storage.now() + 1)).toBe(0);
  });

  test("a balance below the threshold raises one notice, with its mails and its webhook", async () => {
    await topUp("9.5");
    const rule = await addRule();
    await pass.run();
    await pass.run();
    const [notice, ...others] = await raised();
    expect(others).toEqual([]);
    expect(notice).toMatchObject({ subject: accountId, endedAtMs: undefined, readAtMs: undefined });
    expect(notice?.data.text).toBe("The available balance is 9.50 USD, below 10.00 USD.");
    const deliveries = await listDeliveries(storage.database, rule);
    expect(deliveries.map(({ channel, target, state }) => [channel, target, state]).sort()).toEqual([
      ["mail", "ann@example.com", "waiting"],
      ["mail", "bob@example.com", "waiting"],
      ["webhook", "https://hooks.example.com", "waiting"],
    ]);
    expect(await countUnread(storage.database, accountId)).toBe(1);
  });

  test("a threshold above 2^53 nanos is watched as exactly as any other", async () => {
    await topUp("9007199.254740993");
    await addRule({ threshold: "9007199.254740993" });
    await addRule({ threshold: "9007199.254740994" });
    await addRule({ threshold: "4000000000" });
    await pass.run();
    expect((await raised()).map(({ data }) => data.threshold).toSorted()).toEqual([
      "4000000000.00",
      "9007199.254740994",
    ]);
  });

  test("money on hold counts as not available", async () => {
    await topUp("20");
    await addRule();
    await pass.run();
    expect(await raised()).toEqual([]);
    await hold("15");
    await pass.run();
    expect((await raised()).map(({ data }) => data.value)).toEqual(["5.00"]);
  });

  test("an episode ends once the threshold was not crossed for a minute, and the next one raises again", async () => {
    await topUp("5");
    await addRule();
    await pass.run();
    await topUp("50");
    await pass.run();
    await passAfter(CALM_MS - 1);
    expect((await raised()).map(({ endedAtMs }) => endedAtMs)).toEqual([undefined]);
    await passAfter(1);
    expect((await raised()).map(({ endedAtMs }) => endedAtMs)).toEqual([storage.clock.nowMs]);
    await hold("50");
    await pass.run();
    expect((await raised()).map(({ endedAtMs }) => endedAtMs)).toEqual([undefined, storage.clock.nowMs]);
  });

  test("pausing a rule ends its episode and raises nothing, and resuming it raises again", async () => {
    await topUp("5");
    const { id, version } = await addRule();
    await pass.run();
    const place = { accountId, id };
    const paused = await updateRule(parts(), SYSTEM, place, { version, isPaused: true });
    await pass.run();
    expect((await raised()).map(({ endedAtMs }) => endedAtMs)).toEqual([storage.clock.nowMs]);
    await updateRule(parts(), SYSTEM, place, { version: paused.version, isPaused: false });
    await passAfter(1);
    expect((await raised()).map(({ endedAtMs }) => endedAtMs === undefined)).toEqual([true, false]);
  });

  test("holds that come and go around the threshold raise one notice", async () => {
    await topUp("12");
    await addRule();
    for (let round = 0; round < 5; round++) {
      const holdId = await hold("5");
      await passAfter(15_000);
      await storage.ledger.release({
        walletId: accountId,
        holdId,
        facts: { outcome: "ok", source: "none", attempts: [] },
      });
      await passAfter(15_000);
    }
    expect(await raised()).toHaveLength(1);
  });

  test("processes that evaluate at once raise one notice", async () => {
    await topUp("5");
    const rule = await addRule();
    const others = await Promise.all(Array.from({ length: 3 }, () => connectDatabase(storage.location)));
    await Promise.all([pass, ...others.map((database) => newPass(database))].map((each) => each.run()));
    expect(await raised()).toHaveLength(1);
    expect(await listDeliveries(storage.database, rule)).toHaveLength(3);
    await Promise.all(others.map((database) => database.close()));
  });

  test("a new process continues an episode that another one began", async () => {
    await topUp("5");
    await addRule();
    await pass.run();
    await newPass().run();
    expect(await raised()).toHaveLength(1);
  });

  test("a clock that is set back ends no episode early, and does not keep it open for ever", async () => {
    await topUp("5");
    await addRule();
    await pass.run();
    await topUp("50");
    await pass.run();
    await passAfter(-86_400_000);
    expect((await raised())[0]?.endedAtMs).toBeUndefined();
    await passAfter(CALM_MS);
    expect((await raised())[0]?.endedAtMs).toBe(storage.clock.nowMs);
  });

  test("a key that reaches the percentage of its spending limit raises a notice for that key alone", async () => {
    await topUp("100");
    const { db, tables } = storage.database;
    for (const id of ["key-a", "key-b"]) {
      const row = { id, accountId, name: id, hint: "sk-tg-abcd", digest: id, createdAtMs: 1 };
      await db.insert(tables.apiKeys).values({ ...row, models: null, allowsClamp: false });
      const limit = {
        walletId: accountId,
        limitId: id,
        keyId: id,
        period: "day" as const,
        amount: parseUsd("10"),
      };
      await storage.ledger.setSpendLimit(limit);
    }
    await addRule({ kind: "key_limit", threshold: "80" });
    await hold("7.99", "key-a");
    await pass.run();
    expect(await raised()).toEqual([]);
    await hold("0.01", "key-a");
    await pass.run();
    const [notice, ...others] = await raised();
    expect(others).toEqual([]);
    expect(notice?.subject).toBe("key-a");
    expect(notice?.data.text).toBe(
      "Key “key-a” has used 80 % of its daily spending limit of 10.00 USD, holds included.",
    );
  });

  test("the limit of a key that a key made raises no notice, however full it is", async () => {
    await topUp("100");
    const root = await issueKey(storage, { accountId, name: "root", allowsChildren: true });
    const { key } = await createAuthenticate(storage)(root.secret);
    const spendingLimit = { amount: parseUsd("2"), period: "total" } as const;
    const wanted = { name: "run", spendingLimit, lifeMs: 3_600_000, models: undefined };
    const child = await createMakeChild(storage)({ key, secret: root.secret }, wanted);
    await addRule({ kind: "key_limit", threshold: "80" });
    await hold("2", child.key.id);
    await pass.run();
    expect(await raised()).toEqual([]);
  });

  test("a credit that ends soon raises a notice once, for each rule, until it is spent or has ended", async () => {
    const dayMs = 86_400_000;
    const expiresAtMs = storage.clock.nowMs + 10 * dayMs;
    const gift = { walletId: accountId, topUpId: "gift", amount: parseUsd("3.2"), expiresAtMs } as const;
    await storage.ledger.topUp({ ...gift, source: "promotion" });
    await topUp("5");
    await addRule({ kind: "credit_ends", threshold: "3" });
    await addRule({ kind: "credit_ends", threshold: "1" });
    await pass.run();
    expect(await raised()).toEqual([]);
    storage.clock.nowMs = expiresAtMs - 3 * dayMs;
    await newPass().run();
    await newPass().run();
    const [notice, ...others] = await raised();
    expect(others).toEqual([]);
    expect(notice).toMatchObject({ subject: "credit 1", endedAtMs: undefined });
    const at = new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ");
    expect(notice?.data).toMatchObject({
      kind: "credit_ends",
      text: `3.20 USD of the wallet (promotion) expire in 3 days, at ${at} UTC, unless they are spent before.`,
      threshold: "3",
      value: "3.20",
    });
    storage.clock.nowMs = expiresAtMs - dayMs / 2;
    await pass.run();
    expect((await raised()).map(({ data }) => data.threshold)).toEqual(["1", "3"]);
    storage.clock.nowMs = expiresAtMs;
    await pass.run();
    storage.clock.nowMs += CALM_MS;
    await pass.run();
    expect((await raised()).map(({ endedAtMs }) => endedAtMs)).toEqual([
      expiresAtMs + CALM_MS,
      expiresAtMs + CALM_MS,
    ]);
  });

  test("failing attempts at an upstream raise a notice from ten attempts on, over all processes", async () => {
    await addRule({ kind: "upstream_errors", threshold: "50" });
    const publish = (holder: string, attempts: number, failed: number) => {
      const totals = new Map([["up", { attempts, failed }]]);
      return publishAttempts(storage.database, holder, { atMs: storage.clock.nowMs, totals });
    };
    await publish("a", 6, 6);
    await pass.run();
    expect(await raised()).toEqual([]);
    await publish("b", 6, 0);
    await pass.run();
    expect((await raised()).map(({ subject, data }) => [subject, data.value])).toEqual([["up", "50"]]);
    // Both processes have ended: what they published no longer counts.
    await passAfter(100_000);
    await passAfter(CALM_MS);
    expect((await raised())[0]?.endedAtMs).toBe(storage.clock.nowMs);
  });

  test("a deleted rule ends its notices, and a changed one is evaluated again", async () => {
    await topUp("50");
    const rule = await addRule();
    await pass.run();
    const edited = await updateRule(parts(), SYSTEM, rule, { version: 1, threshold: "60" });
    await pass.run();
    expect(await raised()).toHaveLength(1);
    await deleteRule(parts(), SYSTEM, edited);
    expect((await raised())[0]?.endedAtMs).toBe(storage.clock.nowMs);
    await pass.run();
    expect(await raised()).toHaveLength(1);
  });

  test("an ended notice and its webhook call are deleted after 90 days, and an open one is kept", async () => {
    await addRule();
    await pass.run();
    const other = await storage.newAccount();
    await storage.ledger.topUp({ walletId: other.id, topUpId: "t", amount: parseUsd("1") });
    await createRule(parts(), SYSTEM, other.id, LOW);
    await pass.run();
    await topUp("20");
    await passAfter(1_000);
    await passAfter(CALM_MS);
    const { database, clock } = storage;
    const { db, tables } = database;
    expect(await db.select().from(tables.webhookCalls)).toHaveLength(2);
    expect(await sweepNotices(database, clock.nowMs + 89 * 86_400_000)).toBe(0);
    expect(await sweepNotices(database, clock.nowMs + 91 * 86_400_000)).toBe(1);
    expect(await raised()).toEqual([]);
    expect(await db.select().from(tables.notices)).toMatchObject([{ accountId: other.id }]);
    expect(await db.select().from(tables.webhookCalls)).toHaveLength(1);
  });

  test("of hundreds of accounts, only those whose money has changed are evaluated", async () => {
    const ids = await Promise.all(Array.from({ length: 150 }, async () => (await storage.newAccount()).id));
    for (const id of ids)
      await createRule(parts(), SYSTEM, id, { ...LOW, kind: "key_limit", threshold: "50" });
    let reads = 0;
    const { ledger, database, now } = storage;
    const counting = {
      wallet: ledger.wallet,
      fullLimits: ledger.fullLimits,
      wallets: ledger.wallets,
      credits: ledger.credits,
      spendLimits: (walletId: string) => {
        reads += 1;
        return ledger.spendLimits(walletId);
      },
    };
    const log = createCapturedLog();
    const counted = new NoticePass(
      { database, ledger: counting, now, log, mails: createMails(database, now) },
      CALM_MS,
    );
    await counted.run();
    expect(reads).toBe(150);
    await counted.run();
    expect(reads).toBe(150);
    await ledger.topUp({ walletId: ids[0] ?? "", topUpId: "t", amount: 1n });
    await counted.run();
    expect(reads).toBe(151);
  });
});
