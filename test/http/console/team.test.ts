import { beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { consoleForTests, openConsoleOn } from "./open-consoles.ts";

describe.each(DIALECTS)("the team of an account in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let accountId: string;
  let owner: Actor;
  beforeAll(async () => {
    accountId = (await console.newAccount()).id;
    owner = await addMember(console.parts.database, accountId, "owner");
  });

  const path = (rest: string, account = accountId) => `/accounts/${account}/${rest}`;
  /** No mail can be sent here: the answer has the link. */
  const tokenOf = ({ link }: { readonly link: string }) => new URL(link).searchParams.get("token") ?? "none";

  test("an invited person accepts through the link, gets another role, and leaves", async () => {
    const { database } = console.parts;
    const invited = await console.call(owner, "POST", path("invitations"), {
      email: "New@Example.com",
      role: "viewer",
    });
    expect(invited.status).toBe(200);
    expect(invited.json).toMatchObject({ email: "new@example.com", state: "open", invited_by: owner.name });
    const token = tokenOf(invited.json);
    const offer = await console.call(undefined, "GET", `/invitations/${token}`);
    expect(offer.json).toMatchObject({ email: "new@example.com", role: "viewer", has_person: false });
    const person = await addPerson(database, { email: "new@example.com" });
    const accepted = await console.call(person, "POST", `/invitations/${token}/accept`);
    expect(accepted.json).toEqual({ account_id: accountId });
    const replayed = await console.call(person, "POST", `/invitations/${token}/accept`);
    expect(replayed.status).toBe(404);
    const member = path(`members/${person.id}`);
    const changed = await console.call(owner, "PATCH", member, { role: "developer" });
    expect(changed.json).toMatchObject({ person_id: person.id, role: "developer" });
    const listed = await console.call(person, "GET", path("members"));
    expect(listed.json.items).toHaveLength(2);
    expect((await console.call(person, "POST", path("leave"))).status).toBe(200);
    expect((await console.call(person, "GET", path("members"))).status).toBe(404);
  });

  test("the last owner stays, with 409", async () => {
    const demoted = await console.call(owner, "PATCH", path(`members/${owner.id}`), { role: "viewer" });
    expect(demoted.status).toBe(409);
    expect(demoted.json.error.code).toBe("conflict");
    expect((await console.call(owner, "DELETE", path(`members/${owner.id}`))).status).toBe(409);
    const left = await console.call(owner, "POST", path("leave"));
    expect(left.json.error.message).toBe("An account keeps an owner: make another member owner first.");
  });

  test("an invitation is sent again with a new link, and the earlier link ends", async () => {
    const body = { email: "again@example.com", role: "developer" };
    const first = (await console.call(owner, "POST", path("invitations"), body)).json;
    const earlier = tokenOf(first);
    const again = await console.call(owner, "POST", path(`invitations/${first.id}/resend`));
    expect(again.json).toMatchObject({ ...body, state: "open" });
    expect(again.json.id).not.toBe(first.id);
    expect((await console.call(undefined, "GET", `/invitations/${earlier}`)).status).toBe(404);
    const token = tokenOf(again.json);
    expect((await console.call(undefined, "GET", `/invitations/${token}`)).status).toBe(200);
    expect((await console.call(owner, "POST", path(`invitations/${first.id}/resend`))).status).toBe(404);
  });

  test("the link is given once to the inviter without mail, and neither listed nor given to an acting operator", async () => {
    const body = { email: "by-hand@example.com", role: "viewer" };
    const { json } = await console.call(owner, "POST", path("invitations"), body);
    expect(json.link).toStartWith(`${console.parts.settings.publicUrl}/console/accept?token=`);
    const listed = await console.call(owner, "GET", path("invitations"));
    expect(listed.text).not.toContain(tokenOf(json));
    expect(listed.json.items[0]).not.toHaveProperty("link");
    const acting = { accountId, untilMs: Date.now() + 3_600_000 };
    const operator = { ...(await addPerson(console.parts.database, { isOperator: true })), acting };
    expect((await console.call(operator, "POST", path(`invitations/${json.id}/resend`))).status).toBe(403);
    const { id: ownerless } = await console.newAccount();
    const inside = { ...operator, acting: { ...acting, accountId: ownerless } };
    const first = { email: "by-operator@example.com", role: "owner" };
    const made = await console.call(inside, "POST", path("invitations", ownerless), first);
    expect(made.json).toMatchObject({ ...first, link: null });
  });

  test("the link is only mailed where mail can be sent", async () => {
    const mail = { url: "smtp://mail.invalid", from: "noreply@example.com" };
    const settings = { ...console.parts.settings, mail };
    const mailing = await openConsoleOn(dialect, { settings });
    const { id } = await mailing.newAccount();
    const inviter = await addMember(mailing.parts.database, id, "owner");
    const body = { email: "mailed@example.com", role: "viewer" };
    const { json } = await mailing.call(inviter, "POST", path("invitations", id), body);
    expect(json.link).toBeNull();
    const again = await mailing.call(inviter, "POST", path(`invitations/${json.id}/resend`, id));
    expect(again.json.link).toBeNull();
    const { db, tables } = mailing.parts.database;
    expect(await db.select().from(tables.mails)).toHaveLength(2);
    await mailing.stop();
  });

  test("only owners change the team", async () => {
    const body = { email: "x@example.com", role: "viewer" };
    for (const role of ["developer", "viewer"] as const) {
      const actor = await addMember(console.parts.database, accountId, role);
      const answers = [
        await console.call(actor, "POST", path("invitations"), body),
        await console.call(actor, "PATCH", path(`members/${owner.id}`), { role: "viewer" }),
        await console.call(actor, "DELETE", path(`members/${owner.id}`)),
        await console.call(actor, "DELETE", path("invitations/1")),
      ];
      expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
      expect((await console.call(actor, "GET", path("invitations"))).status).toBe(200);
    }
  });

  test("ids of another account are unknown on every route", async () => {
    const { database } = console.parts;
    const other = (await console.newAccount()).id;
    const stranger = await addMember(database, other, "owner");
    const { json } = await console.call(stranger, "POST", path("invitations", other), {
      email: "y@example.com",
      role: "viewer",
    });
    const answers = [
      await console.call(owner, "GET", path("members", other)),
      await console.call(owner, "GET", path("invitations", other)),
      await console.call(owner, "PATCH", path(`members/${stranger.id}`), { role: "viewer" }),
      await console.call(owner, "DELETE", path(`members/${stranger.id}`)),
      await console.call(owner, "DELETE", path(`invitations/${json.id}`)),
      await console.call(owner, "POST", path("leave", other)),
      await console.call(owner, "POST", `/invitations/${json.id}/accept`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404, 404]);
    expect(tokenOf(json)).not.toBe("none");
  });

  test("the link of one address is worth nothing to another person", async () => {
    const body = { email: "friend@example.com", role: "owner" };
    const { json } = await console.call(owner, "POST", path("invitations"), body);
    const thief = await addPerson(console.parts.database);
    const answer = await console.call(thief, "POST", `/invitations/${tokenOf(json)}/accept`);
    expect(answer.status).toBe(403);
    expect((await console.call(thief, "GET", path("members"))).status).toBe(404);
  });

  test("an operator who acts inside an account with an owner gives no role, makes no keys, and ends on time", async () => {
    const acting = { accountId, untilMs: Date.now() + 3_600_000 };
    const operator = { ...(await addPerson(console.parts.database, { isOperator: true })), acting };
    expect((await console.call(operator, "GET", path("members"))).status).toBe(200);
    const invitation = { email: "owner@example.com", role: "owner" };
    expect((await console.call(operator, "POST", path("invitations"), invitation)).status).toBe(403);
    const viewer = await addMember(console.parts.database, accountId, "viewer");
    const promotion = await console.call(operator, "PATCH", path(`members/${viewer.id}`), { role: "owner" });
    expect([promotion.status, promotion.json.error.message]).toEqual([
      403,
      expect.stringContaining("only act"),
    ]);
    const key = { name: "x", role: "owner" };
    expect((await console.call(operator, "POST", path("management-keys"), key)).status).toBe(403);
    const late = console.newOperator({ acting: { accountId, untilMs: Date.now() - 1 } });
    expect((await console.call(late, "GET", path("members"))).status).toBe(404);
  });
});
