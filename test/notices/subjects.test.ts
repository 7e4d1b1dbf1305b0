import { beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { forgetEndUser } from "../../src/accounts/attribution/forget.ts";
import { COMMAND_LINE, SYSTEM } from "../../src/accounts/audit-trail.ts";
import { createAuthenticate } from "../../src/accounts/keys/authenticate.ts";
import { createMakeChild } from "../../src/accounts/keys/child-keys.ts";
import { issueKey } from "../../src/accounts/keys/keys.ts";
import { createProject } from "../../src/accounts/project-changes.ts";
import { connectDatabase } from "../../src/db/database.ts";
import { createMails } from "../../src/delivery/mail/mails.ts";
import { parseUsd } from "../../src/domain/money.ts";
import type { Scope } from "../../src/domain/scope.ts";
import { forgetEndUser as forgetInLedger } from "../../src/ledger/end-users.ts";
import { countUnread, listDeliveries, listNotices } from "../../src/notices/notices.ts";
import { NoticePass } from "../../src/notices/pass.ts";
import { createRule, deleteRule, type NewRule, updateRule } from "../../src/notices/rules.ts";
import { sweepCrossings } from "../../src/notices/subject-crossings.ts";
import { DIALECTS, storageForTests } from "../accounts/temp-storage.ts";
import { createCapturedLog } from "../support/captured-log.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const TOLD_MAX = 20;
const FACTS = { surface: "chat", model: "m" };
const OUTCOME = { outcome: "ok", source: "reported", attempts: [] } as const;
const RULE: NewRule = {
  kind: "subject_limit",
  threshold: "80",
  emails: ["ann@example.com"],
  webhookUrl: "https://hooks.example.com/x",
};

describe.each(DIALECTS)("notices of subjects on %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let projectId: string;
  let pass: NoticePass;

  beforeEach(async () => {
    ({ id: accountId } = await storage.newAccount());
    await topUp(accountId);
    projectId = await newProject(accountId);
    pass = newPass();
  });

  const parts = () => ({ database: storage.database, now: storage.now, allowsLoopback: false });
  const topUp = (walletId: string) =>
    storage.ledger.topUp({ walletId, topUpId: crypto.randomUUID(), amount: parseUsd("1000") });
  async function newProject(account: string): Promise<string> {
    const limit = { amount: parseUsd("1"), period: "day" } as const;
    const { id } = await createProject(
      { ...storage, actor: SYSTEM },
      { accountId: account, name: "Search", endUserLimit: limit },
    );
    return id;
  }
  function newPass(database = storage.database): NoticePass {
    const { ledger, now } = storage;
    const log = createCapturedLog();
    return new NoticePass({ database, ledger, now, log, mails: createMails(database, now) }, 60_000);
  }
  const addRule = (rule: Partial<NewRule> = {}, account = accountId) =>
    createRule(parts(), SYSTEM, account, { ...RULE, ...rule });
  /** Begins to watch: what was spent before is not looked at. */
  async function watch(rule: Partial<NewRule> = {}) {
    const added = await addRule(rule);
    await pass.run();
    return added;
  }
  async function spend(usd: string, scopes: readonly Scope[], { keyId = "k", walletId = accountId } = {}) {
    const holdId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const amount = parseUsd(usd);
    const taken = { walletId, holdId, keyId, scopes, amount, minimum: amount, ttlMs: 60_000, facts: FACTS };
    await storage.ledger.hold(taken);
    await storage.ledger.settle({ walletId, holdId, amount, facts: OUTCOME });
  }
  const user = (id: string, project = projectId): readonly Scope[] => [
    { kind: "project", id: project },
    { kind: "end_user", id },
  ];
  const notices = async (account = accountId) =>
    (await listNotices(storage.database, account, { page: undefined, size: 200, ofSubjects: true })).items;
  const texts = async (account = accountId) => (await notices(account)).map(({ data }) => data.text);

  test("an end user that reaches the percentage of a project's limit is told once for a day, by its names", async () => {
    const rule = await watch();
    await spend("0.79", user("alice"));
    await spend("0.80", user("bob"));
    await pass.run();
    await spend("0.01", user("alice"));
    await spend("0.01", user("bob"));
    await pass.run();
    await pass.run();
    expect(await texts()).toEqual([
      "End user “alice” of project “Search” has used 80 % of its daily spending limit of 1.00 USD, holds included.",
      "End user “bob” of project “Search” has used 80 % of its daily spending limit of 1.00 USD, holds included.",
    ]);
    const [notice] = await notices();
    expect(notice).toMatchObject({ subject: "alice", data: { subject_kind: "end_user", value: "80" } });
    const deliveries = await listDeliveries(storage.database, rule);
    expect(deliveries.map(({ channel }) => channel).sort()).toEqual(["mail", "mail", "webhook", "webhook"]);
    expect(await countUnread(storage.database, accountId)).toBe(0);
    storage.clock.nowMs += DAY_MS;
    await spend("0.90", user("alice"));
    await pass.run();
    expect(await texts()).toHaveLength(3);
  });

  test("a running request of an end user counts with its hold", async () => {
    await watch();
    const amount = parseUsd("0.95");
    const holdId = Bun.randomUUIDv7("hex", storage.clock.nowMs);
    const taken = { walletId: accountId, holdId, keyId: "k", amount, minimum: amount, ttlMs: 60_000 };
    await storage.ledger.hold({ ...taken, scopes: user("alice"), facts: FACTS });
    await pass.run();
    expect((await notices()).map(({ data }) => data.value)).toEqual(["95"]);
  });

  test("above 20 notices in an hour, one notice says how many more there were", async () => {
    const rule = await watch();
    for (let n = 0; n < TOLD_MAX + 7; n++) await spend("0.90", user(`user-${n}`));
    await pass.run();
    await pass.run();
    expect(await notices()).toHaveLength(TOLD_MAX);
    storage.clock.nowMs += HOUR_MS;
    await Promise.all([pass, newPass()].map((each) => each.run()));
    await pass.run();
    const [summary, ...others] = await notices();
    expect(others).toHaveLength(TOLD_MAX);
    expect(summary?.data).toEqual({
      kind: "subject_summary",
      text: "7 more end users have used 80 % of a spending limit between 00:00 and 01:00 UTC.",
      threshold: "80",
      value: "7",
    });
    for (let n = 0; n < TOLD_MAX + 7; n++) await spend("0.01", user(`user-${n}`));
    await pass.run();
    expect(await notices()).toHaveLength(TOLD_MAX + 1);
    expect(await listDeliveries(storage.database, rule)).toHaveLength(2 * (TOLD_MAX + 1));
  });

  test("several processes, and one that died before it kept its position, tell an end user once", async () => {
    await watch();
    await spend("0.90", user("alice"));
    const others = await Promise.all(Array.from({ length: 3 }, () => connectDatabase(storage.location)));
    await Promise.all([pass, ...others.map((database) => newPass(database))].map((each) => each.run()));
    expect(await texts()).toHaveLength(1);
    const { subjectPositions } = storage.database.tables;
    await storage.database.transact((tx) => tx.update(subjectPositions).set({ position: 0 }));
    await newPass().run();
    expect(await texts()).toHaveLength(1);
    await Promise.all(others.map((database) => database.close()));
  });

  test("a new process goes on where the one before it ended", async () => {
    await watch();
    await spend("0.90", user("alice"));
    await newPass().run();
    expect(await texts()).toHaveLength(1);
  });

  test("runs, child keys and members are told by their names, and keys of people are not", async () => {
    const root = await issueKey(storage, { accountId, name: "root", allowsChildren: true });
    const { key } = await createAuthenticate(storage)(root.secret);
    const spendingLimit = { amount: parseUsd("2"), period: "total" } as const;
    const wanted = { name: "nightly triage", spendingLimit, lifeMs: HOUR_MS, models: undefined };
    const child = await createMakeChild(storage)({ key, secret: root.secret }, wanted);
    const run: Scope = { kind: "run", id: `${key.id}:build-7` };
    const total = { walletId: accountId, keyId: undefined, period: "total", amount: parseUsd("2") } as const;
    await storage.ledger.setSpendLimit({ ...total, limitId: `run:${run.id}`, scope: run });
    await storage.ledger.setSpendLimit({ ...total, amount: parseUsd("4"), limitId: key.id, keyId: key.id });
    await storage.ledger.setSpendLimit({ ...total, limitId: "each_member", each: "member" });
    await watch();
    await spend("1.80", [{ kind: "parent_key", id: key.id }], { keyId: child.key.id });
    await spend("0.20", [run], { keyId: key.id });
    await spend("1.70", [run], { keyId: key.id });
    await spend("1.70", [{ kind: "member", id: "ada" }]);
    await pass.run();
    expect((await texts()).toSorted()).toEqual([
      "Key “nightly triage” has used 90 % of its total spending limit of 2.00 USD, holds included.",
      "Member “ada” has used 85 % of its total spending limit of 2.00 USD, holds included.",
      "Run “build-7” of key “root” has used 95 % of its total spending limit of 2.00 USD, holds included.",
    ]);
  });

  test("names that a mail program would show as links are broken up", async () => {
    await watch();
    await spend("0.90", user("https://evil.example/x"));
    await spend("0.90", user("ada@example.com"));
    await pass.run();
    expect((await texts()).map((text) => text.split(" of project")[0]).toSorted()).toEqual([
      "End user “ada[at]example[.]com”",
      "End user “https[:]//evil[.]example/x”",
    ]);
  });

  test("a flood of end users takes no notice of the wallet, in mails and in the list", async () => {
    await watch();
    await addRule({ kind: "balance_below", threshold: "990" });
    for (let n = 0; n < TOLD_MAX + 30; n++) await spend("0.90", user(`user-${n}`));
    await pass.run();
    const { mails } = storage.database.tables;
    const letters = await storage.database.db.select({ template: mails.template }).from(mails);
    expect(letters.filter(({ template }) => template === "notice")).toHaveLength(1);
    expect(letters.filter(({ template }) => template === "subject_notice")).toHaveLength(TOLD_MAX);
    const own = { page: undefined, size: 50, ofSubjects: false };
    expect((await listNotices(storage.database, accountId, own)).items).toHaveLength(1);
    expect(await countUnread(storage.database, accountId)).toBe(1);
  });

  test("a flood in one account bounds no notice of another", async () => {
    const { id: other } = await storage.newAccount();
    await topUp(other);
    const otherProject = await newProject(other);
    await addRule({}, other);
    await watch();
    for (let n = 0; n < TOLD_MAX + 30; n++) await spend("0.90", user(`user-${n}`));
    await spend("0.90", user("alice", otherProject), { walletId: other });
    await pass.run();
    expect(await texts(other)).toHaveLength(1);
    expect(await texts()).toHaveLength(TOLD_MAX);
  });

  test("a paused or deleted rule tells nothing, and its position and crossings go", async () => {
    const { id } = await watch();
    await spend("0.90", user("alice"));
    await pass.run();
    const paused = await updateRule(parts(), SYSTEM, { accountId, id }, { version: 1, isPaused: true });
    await spend("0.90", user("bob"));
    await pass.run();
    expect(await texts()).toHaveLength(1);
    const { subjectCrossings, subjectPositions } = storage.database.tables;
    expect(await storage.database.db.select().from(subjectPositions)).toEqual([]);
    expect(await storage.database.db.select().from(subjectCrossings)).toEqual([]);
    const resumed = { version: paused.version, isPaused: false };
    await updateRule(parts(), SYSTEM, { accountId, id }, resumed);
    await pass.run();
    expect(await texts()).toHaveLength(1);
    await deleteRule(parts(), SYSTEM, { accountId, id });
    await pass.run();
    expect(await texts()).toHaveLength(1);
  });

  test("crossings of periods that are over are deleted, and those of totals kept for 90 days", async () => {
    const run: Scope = { kind: "run", id: "k:r" };
    await storage.ledger.setSpendLimit({
      walletId: accountId,
      limitId: "run:k:r",
      keyId: undefined,
      scope: run,
      period: "total",
      amount: parseUsd("1"),
    });
    await watch();
    await spend("0.90", [...user("alice"), run]);
    await pass.run();
    const nowMs = storage.now();
    expect(await sweepCrossings(storage.database, nowMs + DAY_MS)).toBe(0);
    expect(await sweepCrossings(storage.database, nowMs + 2 * DAY_MS + 1)).toBe(1);
    expect(await sweepCrossings(storage.database, nowMs + 91 * DAY_MS + 1)).toBe(1);
  });

  test("an end user that is forgotten has the pseudonym in notices, mails and webhook calls", async () => {
    await watch();
    await spend("0.90", user("alice"));
    await spend("0.90", user("alice b"));
    await pass.run();
    const { database, now, ledger } = storage;
    const forget = (forgetting: Parameters<typeof forgetInLedger>[1]) =>
      forgetInLedger({ database, ledger }, forgetting);
    const { pseudonym } = await forgetEndUser({ database, now, forget }, COMMAND_LINE, {
      accountId,
      endUser: "alice",
    });
    const found = await notices();
    expect(found.map(({ subject }) => subject).toSorted()).toEqual(["alice b", pseudonym]);
    const { mails, webhookCalls, subjectCrossings } = database.tables;
    const kept = [
      ...found.map(({ data }) => JSON.stringify(data)),
      ...(await database.db.select().from(mails)).map(({ data }) => data),
      ...(await database.db.select().from(webhookCalls)).map(({ body }) => body),
    ];
    expect(kept.filter((text) => text.includes("“alice”"))).toEqual([]);
    expect(kept.filter((text) => text.includes(`“${pseudonym}” of project “Search”`))).toHaveLength(3);
    const rows = await database.db
      .select()
      .from(subjectCrossings)
      .where(eq(subjectCrossings.subject, "alice"));
    expect(rows).toEqual([]);
    await pass.run();
    expect(await notices()).toHaveLength(2);
  });
});
