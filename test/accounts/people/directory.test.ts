import { beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { endSessions, listPeople, setOperator } from "../../../src/accounts/people/directory.ts";
import { beginActing, endActing } from "../../../src/accounts/people/operators.ts";
import { actionsOf, addPerson, addSession } from "../actors.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

describe.each(DIALECTS)("people and operators in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let operator: Actor;
  beforeEach(async () => {
    operator = await addPerson(storage.database, { isOperator: true, email: "op@example.com" });
  });

  const sessionOf = async ({ id }: Actor) => {
    const { db, tables } = storage.database;
    return (await db.select().from(tables.sessions)).find(({ userId }) => userId === id);
  };

  test("people are found by a part of name or e-mail in any case, and page by page", async () => {
    for (const email of ["ada@acme.example", "bob@acme.example", "100%@x.example"]) {
      await addPerson(storage.database, { email });
    }
    const find = async (text: string) =>
      (await listPeople(storage.database, { text, size: 9 })).items.map(({ email }) => email);
    expect(await find("ACME")).toEqual(["ada@acme.example", "bob@acme.example"]);
    expect(await find("0%@")).toEqual(["100%@x.example"]);
    expect(await find("_")).toEqual([]);
    await addPerson(storage.database, { email: "Ünal@x.example" });
    expect(await find("ÜNAL")).toEqual(["Ünal@x.example"]);
    const {
      items: [first],
      next,
    } = await listPeople(storage.database, { size: 1 });
    const { items: rest } = await listPeople(storage.database, { size: 9, token: next ?? undefined });
    expect(rest).toHaveLength(4);
    expect(first).toMatchObject({ email: "op@example.com", sessions: 1, accounts: 0 });
  });

  test("the last operator stays one, also when two demote each other at once", async () => {
    const demote = (by: Actor, of: Actor) => setOperator(storage, by, { personId: of.id, isOperator: false });
    await expect(demote(operator, operator)).rejects.toMatchObject({ kind: "conflict" });
    const other = await addPerson(storage.database);
    expect(await setOperator(storage, operator, { personId: other.id, isOperator: true })).toMatchObject({
      isOperator: true,
    });
    const ended = await Promise.allSettled([demote(operator, other), demote(other, operator)]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const { items: people } = await listPeople(storage.database, { size: 9 });
    expect(people.filter(({ isOperator }) => isOperator)).toHaveLength(1);
  });

  test("a person is signed out everywhere", async () => {
    const person = await addPerson(storage.database);
    expect(await endSessions(storage, operator, person.id)).toBe(1);
    expect(await sessionOf(person)).toBeUndefined();
    expect(await sessionOf(operator)).toBeDefined();
    await expect(endSessions(storage, operator, "nobody")).rejects.toMatchObject({ kind: "unknown_item" });
  });

  test("an operator acts inside an account for 30 minutes, and the account's trail shows why", async () => {
    const account = await storage.newAccount("acme");
    const acting = await beginActing(storage, operator, { accountId: account.id, reason: "ticket 7" });
    const untilMs = storage.clock.nowMs + 30 * 60_000;
    expect(acting).toEqual({ accountId: account.id, accountName: "acme", untilMs });
    expect(await sessionOf(operator)).toMatchObject({ actingAccountId: account.id, actingUntilMs: untilMs });
    await endActing(storage, { ...operator, acting });
    expect(await sessionOf(operator)).toMatchObject({ actingAccountId: null, actingUntilMs: null });
    const { db, tables } = storage.database;
    const began = (await db.select().from(tables.auditEntries)).find(({ action }) =>
      action.endsWith("began"),
    );
    expect(began).toMatchObject({ isActing: true, actorName: "op@example.com" });
    expect(JSON.parse(began?.after ?? "")).toMatchObject({ reason: "ticket 7" });
    expect(await actionsOf(storage.database, account.id)).toEqual([
      "account.created",
      "account.acting_began",
      "account.acting_ended",
    ]);
  });

  test("nobody acts without a session of its own, or inside an unknown account", async () => {
    const { id: accountId } = await storage.newAccount();
    const begin = (actor: Actor, id = accountId) =>
      beginActing(storage, actor, { accountId: id, reason: "x" });
    await expect(begin({ ...operator, session: undefined })).rejects.toMatchObject({ kind: "not_permitted" });
    await expect(begin(operator, "nobody")).rejects.toMatchObject({ kind: "unknown_item" });
    const stranger = await addPerson(storage.database);
    const foreign = { ...operator, session: stranger.session };
    await expect(begin(foreign)).rejects.toMatchObject({ kind: "no_session" });
    expect(await actionsOf(storage.database, accountId)).toEqual(["account.created"]);
  });

  test("who becomes an operator, or is none any more, is signed out everywhere, once", async () => {
    const other = await addPerson(storage.database);
    const set = (isOperator: boolean) => setOperator(storage, operator, { personId: other.id, isOperator });
    expect(await set(true)).toMatchObject({ isOperator: true, sessions: 0 });
    await addSession(storage.database, other.id);
    expect(await set(true)).toMatchObject({ isOperator: true, sessions: 1 });
    expect(await set(false)).toMatchObject({ isOperator: false, sessions: 0 });
    const { db, tables } = storage.database;
    const actions = (await db.select().from(tables.auditEntries)).map(({ action }) => action);
    expect(actions).toEqual(["operator.added", "operator.removed"]);
  });

  test("a right of groups that becomes one of the person's own is in the audit trail, and signs the person out", async () => {
    const { db, tables } = storage.database;
    const given = await addPerson(storage.database, { isOperator: true });
    const isGiven = eq(tables.people.id, given.id);
    await db.update(tables.people).set({ operatorIdentityId: "identity" }).where(isGiven);
    const own = await setOperator(storage, given, { personId: given.id, isOperator: true });
    expect(own).toMatchObject({ isOperator: true, sessions: 0 });
    const [entry] = await db.select().from(tables.auditEntries);
    expect(entry).toMatchObject({ action: "operator.added", actorId: given.id, target: given.id });
  });

  test("the door of an operator's new password closes with the right", async () => {
    const { db, tables } = storage.database;
    const { id: personId } = await addPerson(storage.database, { isOperator: true });
    const isFormer = eq(tables.people.id, personId);
    await db
      .update(tables.people)
      .set({ passwordUntilMs: storage.now() + 60_000 })
      .where(isFormer);
    await setOperator(storage, operator, { personId, isOperator: false });
    const [row] = await db.select().from(tables.people).where(isFormer);
    expect(row?.passwordUntilMs).toBeNull();
  });
});
