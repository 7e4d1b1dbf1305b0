import { beforeEach, describe, expect, test } from "bun:test";
import { type Actor, SYSTEM } from "../../../src/accounts/audit-trail.ts";
import {
  acceptInvitation,
  findInvitation,
  type Invitee,
  mintInvitationToken,
} from "../../../src/accounts/people/invitation-links.ts";
import {
  invite,
  inviteAgain,
  listInvitations,
  revokeInvitation,
  stateOf,
} from "../../../src/accounts/people/invitations.ts";
import { changeRole, listMembers, removeMember } from "../../../src/accounts/people/members.ts";
import { createMails } from "../../../src/delivery/mail/mails.ts";
import { actionsOf, addMember, addPerson } from "../actors.ts";
import { DIALECTS, storageForTests } from "../temp-storage.ts";

const DAY_MS = 86_400_000;

describe.each(DIALECTS)("invitations in %s", (dialect) => {
  const storage = storageForTests(dialect);
  let accountId: string;
  let owner: Actor;
  beforeEach(async () => {
    accountId = (await storage.newAccount("acme")).id;
    owner = await addMember(storage.database, accountId, "owner");
  });

  const issue = (email: string, role: "owner" | "viewer", isHandedOut = false) => {
    const mails = createMails(storage.database);
    return invite({ ...storage, mails }, owner, { accountId, email, role, isHandedOut });
  };
  const inviteOne = async (email = "ada@example.com", role: "owner" | "viewer" = "viewer") =>
    (await issue(email, role)).invitation;
  const mint = async (id: string) =>
    (await mintInvitationToken(storage.database, id, storage.clock.nowMs)) ?? "none";
  const accept = (token: string, person: Invitee & Partial<Actor>) => {
    const { database, clock } = storage;
    const actor: Actor = { ...owner, id: person.id };
    return database.transact((tx) =>
      acceptInvitation(database, tx, { token, person, actor, nowMs: clock.nowMs }),
    );
  };
  const invitee = async (email = "ada@example.com"): Promise<Invitee> => {
    const { id } = await addPerson(storage.database, { email, emailVerified: false });
    return { id, email };
  };

  test("an invitation orders one mail, and neither table holds a token", async () => {
    const { id } = await inviteOne(" Ada@Example.com ");
    const { db, tables } = storage.database;
    const [mail] = await db.select().from(tables.mails);
    expect(mail).toMatchObject({ template: "invitation", address: "ada@example.com", attempts: 0 });
    expect(JSON.parse(mail?.data ?? "")).toEqual({ invitation_id: id, account_name: "acme", role: "viewer" });
    expect((await listInvitations(storage.database, accountId))[0]?.digest).toBeNull();
    const token = await mint(id);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(await db.select().from(tables.invitations))).not.toContain(token);
  });

  test("the invited person becomes a member with the role, once, and its address counts as verified", async () => {
    const person = await invitee();
    const token = await mint((await inviteOne()).id);
    expect(await accept(token, person)).toEqual({ accountId });
    await expect(accept(token, person)).rejects.toMatchObject({ kind: "unknown_item" });
    const members = await listMembers(storage.database, accountId);
    expect(members.find(({ personId }) => personId === person.id)?.role).toBe("viewer");
    const { db, tables } = storage.database;
    const [row] = (await db.select().from(tables.people)).filter(({ id }) => id === person.id);
    expect(row?.emailVerified).toBe(true);
    expect(await actionsOf(storage.database, accountId)).toContain("invitation.accepted");
  });

  test("a token that the inviter was handed admits the address once, orders no mail, and proves nothing", async () => {
    const person = await invitee();
    const { token = "none", invitation } = await issue(person.email, "viewer", true);
    const { db, tables } = storage.database;
    expect(await db.select().from(tables.mails)).toEqual([]);
    expect(JSON.stringify(await db.select().from(tables.invitations))).not.toContain(token);
    await expect(accept(token, await invitee("eve@example.com"))).rejects.toMatchObject({
      kind: "not_permitted",
    });
    const found = await findInvitation(storage.database, token, storage.clock.nowMs);
    expect(found?.invitation.id).toBe(invitation.id);
    expect(await accept(token, person)).toEqual({ accountId });
    await expect(accept(token, person)).rejects.toMatchObject({ kind: "unknown_item" });
    const [row] = (await db.select().from(tables.people)).filter(({ id }) => id === person.id);
    expect(row?.emailVerified).toBe(false);
  });

  test("of two acceptances at once one succeeds", async () => {
    const person = await invitee();
    const token = await mint((await inviteOne()).id);
    const ended = await Promise.allSettled([accept(token, person), accept(token, person)]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("another address cannot accept, and the invitation stays open for its own", async () => {
    const token = await mint((await inviteOne()).id);
    const thief = await invitee("eve@example.com");
    await expect(accept(token, thief)).rejects.toMatchObject({ kind: "not_permitted" });
    expect(await findInvitation(storage.database, token, storage.clock.nowMs)).toBeDefined();
    expect(await listMembers(storage.database, accountId)).toHaveLength(1);
    expect(await accept(token, await invitee())).toEqual({ accountId });
  });

  test("an invitation ends after 7 days", async () => {
    const { id } = await inviteOne();
    const token = await mint(id);
    storage.clock.nowMs += 7 * DAY_MS;
    await expect(accept(token, await invitee())).rejects.toMatchObject({ kind: "unknown_item" });
    expect(await findInvitation(storage.database, token, storage.clock.nowMs)).toBeUndefined();
    expect(await mint(id)).toBe("none");
    const [listed] = await listInvitations(storage.database, accountId);
    expect(listed && stateOf(listed, storage.clock.nowMs)).toBe("expired");
  });

  test("a revoked invitation is worth nothing, and is revoked once", async () => {
    const { id } = await inviteOne();
    const token = await mint(id);
    await revokeInvitation(storage, owner, { accountId, id });
    await expect(accept(token, await invitee())).rejects.toMatchObject({ kind: "unknown_item" });
    const again = revokeInvitation(storage, owner, { accountId, id });
    await expect(again).rejects.toMatchObject({ kind: "unknown_item" });
  });

  test("another account cannot revoke an invitation", async () => {
    const { id } = await inviteOne();
    const { id: other } = await storage.newAccount();
    const revoked = revokeInvitation(storage, owner, { accountId: other, id });
    await expect(revoked).rejects.toMatchObject({ kind: "unknown_item" });
    expect(await mint(id)).not.toBe("none");
  });

  test("a second try of the mail makes the first token worthless", async () => {
    const { id } = await inviteOne();
    const first = await mint(id);
    const second = await mint(id);
    const person = await invitee();
    await expect(accept(first, person)).rejects.toMatchObject({ kind: "unknown_item" });
    expect(await accept(second, person)).toEqual({ accountId });
  });

  test("a second invitation of an address revokes the first", async () => {
    const token = await mint((await inviteOne()).id);
    await inviteOne("ada@example.com", "owner");
    expect(await findInvitation(storage.database, token, storage.clock.nowMs)).toBeUndefined();
    const states = (await listInvitations(storage.database, accountId)).map((each) =>
      stateOf(each, storage.clock.nowMs),
    );
    expect(states.sort()).toEqual(["open", "revoked"]);
  });

  test("a member cannot be invited, and an older invitation does not change its role", async () => {
    const person = await invitee();
    const token = await mint((await inviteOne("ada@example.com", "viewer")).id);
    const { db, tables } = storage.database;
    const row = { accountId, personId: person.id, role: "owner" as const, createdAtMs: 1 };
    await db.insert(tables.members).values(row);
    await expect(inviteOne()).rejects.toMatchObject({ kind: "conflict" });
    await accept(token, person);
    const members = await listMembers(storage.database, accountId);
    expect(members.find(({ personId }) => personId === person.id)?.role).toBe("owner");
  });

  test("a text that is no plain address cannot be invited", async () => {
    for (const email of ["no-at", "a@b, c@d", "<a@b>", "a@b\r\nbcc: c@d", "a b@c", "@", "a@b@c"]) {
      await expect(inviteOne(email)).rejects.toMatchObject({ kind: "wrong_shape" });
    }
    expect(await listInvitations(storage.database, accountId)).toEqual([]);
  });

  test("an account invites at most 50 addresses a day", async () => {
    for (let count = 0; count < 50; count += 1) await inviteOne(`p${count}@example.com`);
    await expect(inviteOne("one-more@example.com")).rejects.toMatchObject({ kind: "rate_limited" });
    storage.clock.nowMs += DAY_MS + 1;
    await inviteOne("one-more@example.com");
  });

  test("the accounts of one owner share the invitations of a day", async () => {
    const { database, newAccount } = storage;
    const parts = { ...storage, mails: createMails(database) };
    const { id: second } = await newAccount("second");
    const values = { accountId: second, personId: owner.id, role: "owner", createdAtMs: 0 } as const;
    await database.db.insert(database.tables.members).values(values);
    for (let count = 0; count < 50; count += 1) {
      const shared = { accountId: count % 2 ? accountId : second, email: `p${count}@example.com` };
      await invite(parts, owner, { ...shared, role: "viewer" });
    }
    const third = { email: "one-more@example.com", role: "viewer" } as const;
    for (const each of [accountId, second]) {
      await expect(invite(parts, owner, { ...third, accountId: each })).rejects.toMatchObject({
        kind: "rate_limited",
      });
    }
  });

  test("an account whose owners have confirmed no address mails nobody, whoever asks", async () => {
    const { database, newAccount } = storage;
    const parts = { ...storage, mails: createMails(database) };
    const { id } = await newAccount("unconfirmed");
    const stranger = await addMember(database, id, "owner", { emailVerified: false });
    const given = { accountId: id, email: "victim@example.com", role: "viewer" } as const;
    for (const actor of [stranger, SYSTEM]) {
      await expect(invite(parts, actor, given)).rejects.toMatchObject({ kind: "not_permitted" });
    }
    expect((await invite(parts, stranger, { ...given, isHandedOut: true })).token).toBeDefined();
    expect(await database.db.select().from(database.tables.mails)).toEqual([]);
  });

  test("an operator who acts inside an account invites and promotes only while it has no owner", async () => {
    const { database, newAccount } = storage;
    const parts = { ...storage, mails: createMails(database) };
    const { id } = await newAccount("ownerless");
    const acting = { accountId: id, untilMs: storage.clock.nowMs + 1_000 };
    const operator = { ...(await addPerson(database, { isOperator: true })), acting };
    const given = { accountId: id, email: "first@example.com", role: "owner" } as const;
    const { invitation } = await invite(parts, operator, given);
    const { id: personId } = await addMember(database, id, "viewer");
    await changeRole(storage, operator, { accountId: id, personId, role: "owner" });

    const refused = { kind: "not_permitted" };
    const other = await addMember(database, id, "viewer");
    for (const role of ["owner", "developer", "viewer"] as const) {
      const wanted = { ...given, email: "second@example.com", role };
      await expect(invite(parts, operator, wanted)).rejects.toMatchObject(refused);
      await expect(invite(parts, operator, { ...wanted, isHandedOut: true })).rejects.toMatchObject(refused);
    }
    await expect(inviteAgain(parts, operator, { accountId: id, id: invitation.id })).rejects.toMatchObject(
      refused,
    );
    const promotion = { accountId: id, personId: other.id, role: "developer" } as const;
    await expect(changeRole(storage, operator, promotion)).rejects.toMatchObject(refused);
    await revokeInvitation(storage, operator, { accountId: id, id: invitation.id });
    await removeMember(storage, operator, { accountId: id, personId: other.id });
    expect(await listMembers(database, id)).toMatchObject([{ personId, role: "owner" }]);
  });

  test("an operator who is an owner of the account gives rights also while acting inside it", async () => {
    const { database } = storage;
    const parts = { ...storage, mails: createMails(database) };
    const member = await addMember(database, accountId, "owner", { isOperator: true });
    const acting = { accountId, untilMs: storage.clock.nowMs + 1_000 };
    const given = { accountId, email: "new@example.com", role: "viewer" } as const;
    expect((await invite(parts, { ...member, acting }, given)).invitation.email).toBe(given.email);
  });

  test("a token of another form or of no invitation finds nothing", async () => {
    await inviteOne();
    const person = await invitee();
    for (const token of ["", "x", "a".repeat(43), "' OR 1=1 --", "é".repeat(43)]) {
      expect(await findInvitation(storage.database, token, storage.clock.nowMs)).toBeUndefined();
      await expect(accept(token, person)).rejects.toMatchObject({ kind: "unknown_item" });
    }
  });
});
