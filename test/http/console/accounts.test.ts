import { beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { consoleForTests } from "./open-consoles.ts";

const COOKIE = "tollgate.session=aaaaaaaaaaaaaaaa.bbbb";

describe.each(DIALECTS)("accounts in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let operator: Actor;
  beforeAll(async () => {
    operator = await addPerson(console.parts.database, { isOperator: true });
  });

  const once = (key: string) => ({ "idempotency-key": key, cookie: COOKIE });

  test("an operator creates an account and owns it; repeated with its key, it is one", async () => {
    const body = { name: "Acme", email: "Billing@Acme.example" };
    const first = await console.call(operator, "POST", "/accounts", body, once("k1"));
    expect(first.json).toMatchObject({
      name: "Acme",
      email: "billing@acme.example",
      state: "active",
      version: 1,
    });
    const again = await console.call(operator, "POST", "/accounts", body, once("k1"));
    expect(again.json).toEqual(first.json);
    const other = await console.call(operator, "POST", "/accounts", { name: "Other" }, once("k1"));
    expect(other.status).toBe(409);
    const taken = await console.call(operator, "POST", "/accounts", body, once("k2"));
    expect(taken.status).toBe(409);
    const read = await console.call(operator, "GET", `/accounts/${first.json.id}`);
    expect(read.json).toMatchObject(first.json);
  });

  test("a person creates no account while sign-up is not open", async () => {
    const person = await addPerson(console.parts.database);
    const answer = await console.call(person, "POST", "/accounts", { name: "Mine" });
    expect(answer.status).toBe(403);
    expect((await console.call(undefined, "POST", "/accounts", { name: "Mine" })).status).toBe(401);
  });

  test("the later of two edits gets 409 and the present account", async () => {
    const { id } = await console.newAccount();
    const owner = await addMember(console.parts.database, id, "owner");
    const edit = (name: string, version: number) =>
      console.call(owner, "PATCH", `/accounts/${id}`, { name, version });
    const first = await edit(`first ${id}`, 1);
    expect(first.json).toMatchObject({ name: `first ${id}`, version: 2 });
    const later = await edit(`second ${id}`, 1);
    expect(later.status).toBe(409);
    expect(later.json.error.code).toBe("conflict");
    expect(later.json.current).toEqual(first.json);
    expect(later.headers.get("x-should-retry")).toBe("false");
    const both = await Promise.all([edit(`third ${id}`, 2), edit(`fourth ${id}`, 2)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test("a name that is taken, also at the same moment, is 409 without an audit entry", async () => {
    const [one, two] = [await console.newAccount(), await console.newAccount()];
    const owner = await addMember(console.parts.database, one.id, "owner");
    const { database } = console.parts;
    const row = { personId: owner.id, role: "owner" as const, createdAtMs: 1 };
    await database.db.insert(database.tables.members).values({ ...row, accountId: two.id });
    const name = `wanted ${one.id}`;
    const edits = await Promise.all(
      [one, two].map(({ id }) => console.call(owner, "PATCH", `/accounts/${id}`, { name, version: 1 })),
    );
    expect(edits.map(({ status }) => status).sort()).toEqual([200, 409]);
    const entries = await database.db.select().from(database.tables.auditEntries);
    const renamed = entries.filter((each) => each.action === "account.updated" && each.after?.includes(name));
    expect(renamed).toHaveLength(1);
  });

  test("malformed members are refused with their path", async () => {
    const { id } = await console.newAccount();
    const owner = await addMember(console.parts.database, id, "owner");
    for (const body of [
      { version: 1, name: "" },
      { version: 1, name: " x" },
      { version: 1, name: "a\nb" },
      { version: 1, email: "a@b, c@d" },
      { version: "x" },
      { version: 1, state: "suspended" },
      {},
    ]) {
      expect((await console.call(owner, "PATCH", `/accounts/${id}`, body)).status).toBe(422);
    }
    const removed = await console.call(owner, "PATCH", `/accounts/${id}`, { version: 1, email: null });
    expect(removed.json.email).toBeNull();
  });

  test("the audit trail shows who changed what, page by page, and as CSV without formulas", async () => {
    const { id } = await console.newAccount();
    const owner = await addMember(console.parts.database, id, "owner");
    const names = ["=cmd()", "+1", 'quo"te, and comma'].map((name) => `${name} ${id}`);
    for (const [index, name] of names.entries()) {
      await console.call(owner, "PATCH", `/accounts/${id}`, { name, version: index + 1 });
    }
    const trail = `/accounts/${id}/audit-trail`;
    const first = await console.call(owner, "GET", `${trail}?size=2`);
    expect(first.json.items).toHaveLength(2);
    expect(first.json.items[0]).toMatchObject({
      action: "account.updated",
      actor_name: owner.name,
      actor_kind: "person",
      is_acting: false,
      before: { name: names[1], email: null },
      after: { name: names[2], email: null },
      address: "192.0.2.1",
    });
    const second = await console.call(owner, "GET", `${trail}?size=2&page=${first.json.next}`);
    expect(second.json.items.map(({ action }: { action: string }) => action)).toEqual([
      "account.updated",
      "account.created",
    ]);
    expect(second.json.next).toBeNull();
    const filtered = await console.call(owner, "GET", `${trail}?actor=command%20line`);
    expect(filtered.json.items).toHaveLength(1);
    const byId = await console.call(owner, "GET", `${trail}?actor=${owner.id}&action=account.updated`);
    expect(byId.json.items).toHaveLength(3);
    const csv = await console.call(owner, "GET", `${trail}.csv`);
    expect(csv.headers.get("content-type")).toStartWith("text/csv");
    expect(csv.text.split("\r\n")).toHaveLength(6);
    expect(csv.text).not.toMatch(/(^|,)"?[=+@-]/m);
    expect((await console.call(owner, "GET", `${trail}?page=x`)).status).toBe(422);
    const viewer = await addMember(console.parts.database, id, "viewer");
    expect((await console.call(viewer, "GET", trail)).status).toBe(403);
    expect((await console.call(viewer, "GET", `${trail}.csv`)).status).toBe(403);
  });
});
