import { beforeEach, describe, expect, test } from "bun:test";
import { type Actor, COMMAND_LINE } from "../../../src/accounts/audit-trail.ts";
import {
  changeRole,
  findRole,
  isOnePerson,
  listMembers,
  removeMember,
} from "../../../src/accounts/people/members.ts";
import { actionsOf, addMember, addSession } from "../actors.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

describe.each(DIALECTS)("members in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let owner: Actor;
  beforeEach(async () => {
    accountId = (await storage.newAccount()).id;
    owner = await addMember(storage.database, accountId, "owner");
  });

  const roles = async () => (await listMembers(storage.database, accountId)).map(({ role }) => role).sort();

  test("a member gets another role, and the audit trail shows both", async () => {
    const { id: personId } = await addMember(storage.database, accountId, "viewer");
    await changeRole(storage, owner, { accountId, personId, role: "developer" });
    expect(await roles()).toEqual(["developer", "owner"]);
    const { db, tables } = storage.database;
    const entry = (await db.select().from(tables.auditEntries)).find(({ target }) => target === personId);
    expect(entry).toMatchObject({
      action: "member.role_changed",
      actorName: owner.name,
      address: "192.0.2.1",
    });
    expect(entry?.before).toBe('{"role":"viewer"}');
    expect(entry?.after).toBe('{"role":"developer"}');
  });

  test("a member with more rights signs in again, and one with fewer keeps its session", async () => {
    const { id: personId } = await addMember(storage.database, accountId, "viewer");
    const sessionsLeft = async () => {
      const { db, tables } = storage.database;
      return (await db.select().from(tables.sessions)).filter(({ userId }) => userId === personId).length;
    };
    await addSession(storage.database, personId);
    await changeRole(storage, owner, { accountId, personId, role: "owner" });
    expect(await sessionsLeft()).toBe(0);
    await addSession(storage.database, personId);
    await changeRole(storage, owner, { accountId, personId, role: "developer" });
    expect(await sessionsLeft()).toBe(1);
  });

  test("the last owner can neither be demoted nor removed, and no audit entry claims it", async () => {
    const member = { accountId, personId: owner.id };
    await expect(changeRole(storage, owner, { ...member, role: "viewer" })).rejects.toMatchObject({
      kind: "conflict",
    });
    await expect(removeMember(storage, COMMAND_LINE, member)).rejects.toMatchObject({ kind: "conflict" });
    expect(await roles()).toEqual(["owner"]);
    expect(await actionsOf(storage.database, accountId)).toEqual(["account.created"]);
  });

  test("of two owners who demote each other at once one stays an owner", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await storage.newAccount();
      const pair = [
        await addMember(storage.database, id, "owner"),
        await addMember(storage.database, id, "owner"),
      ];
      const [first, second] = pair as [Actor, Actor];
      const demote = (by: Actor, of: Actor) =>
        changeRole(storage, by, { accountId: id, personId: of.id, role: "viewer" });
      const ended = await Promise.allSettled([demote(first, second), demote(second, first)]);
      expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      const left = await listMembers(storage.database, id);
      expect(left.filter(({ role }) => role === "owner")).toHaveLength(1);
    }
  });

  test("of two owners who leave at once one stays", async () => {
    const other = await addMember(storage.database, accountId, "owner");
    const leave = (actor: Actor) => removeMember(storage, actor, { accountId, personId: actor.id });
    const ended = await Promise.allSettled([leave(owner), leave(other)]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await roles()).toEqual(["owner"]);
    expect(
      (await actionsOf(storage.database, accountId)).filter((each) => each === "member.left"),
    ).toHaveLength(1);
  });

  test("a member of another account is unknown", async () => {
    const { id: other } = await storage.newAccount();
    const { id: personId } = await addMember(storage.database, other, "viewer");
    const member = { accountId, personId };
    await expect(removeMember(storage, owner, member)).rejects.toMatchObject({ kind: "unknown_item" });
    await expect(changeRole(storage, owner, { ...member, role: "owner" })).rejects.toMatchObject({
      kind: "unknown_item",
    });
  });

  test("members are listed with their latest session", async () => {
    const [member] = await listMembers(storage.database, accountId);
    expect(member).toMatchObject({ personId: owner.id, name: "Ada", email: owner.name, role: "owner" });
    expect(member?.lastSeenAtMs).toBeGreaterThan(Date.now() - 600_000);
  });

  test("two accounts are of one person when somebody but an operator sends requests of both", async () => {
    const { database, newAccount } = storage;
    const { id: other } = await newAccount("other");
    const join = (personId: string, role: "owner" | "viewer") =>
      database.db
        .insert(database.tables.members)
        .values({ accountId: other, personId, role, createdAtMs: 1 });
    const areOne = () => isOnePerson(database, accountId, other);
    expect(await areOne()).toBe(false);
    await join((await addMember(database, accountId, "developer", { isOperator: true })).id, "owner");
    await join((await addMember(database, accountId, "developer")).id, "viewer");
    expect(await areOne()).toBe(false);
    await join(owner.id, "owner");
    expect(await areOne()).toBe(true);
  });

  test("an operator who acts inside an account has no role after its time, nor in another account", async () => {
    const acting = { accountId, untilMs: 1_000 };
    const operator: Actor = { ...owner, id: "operator", isOperator: true, acting };
    const roleOf = (nowMs: number, id = accountId) =>
      findRole(storage.database, operator, { accountId: id, nowMs });
    expect(await roleOf(999)).toBe("acting");
    expect(await roleOf(1_000)).toBeUndefined();
    expect(await roleOf(999, "another")).toBeUndefined();
  });
});
