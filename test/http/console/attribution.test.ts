import { afterAll, beforeAll, expect, test } from "bun:test";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { setMemberLimit } from "../../../src/accounts/member-limits.ts";
import { createProject } from "../../../src/accounts/project-changes.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { CHAT, post } from "../../support/client.ts";
import { openTestConsole, type TestConsole } from "../../support/test-console.ts";

let console: TestConsole;
beforeAll(async () => {
  console = await openTestConsole();
});
afterAll(() => console.stop());

const NO_MONEY = { amount: 0n, period: "total" } as const;

/** An account with 10 USD, and its owner, who is a person of the database. */
async function newOwner() {
  const { database, ledger } = console.gateway.tollgate;
  const account = await console.newAccount();
  const owner = await console.newMember(account.id, "owner");
  const at = new Date();
  const person = {
    id: owner.id,
    name: "Ada",
    email: `${owner.id}@example.com`,
    createdAt: at,
    updatedAt: at,
  };
  await database.db.insert(database.tables.people).values(person);
  await ledger.topUp({ walletId: account.id, topUpId: "seed", amount: parseUsd("10") });
  const parts = { database, ledger, actor: owner };
  const newKey = (projectId?: string) => issueKey(parts, { accountId: account.id, name: "test", projectId });
  return { account, owner, parts, newKey };
}

/** The scopes of a request of a key, as the console's receipt names them. */
async function scopesOf({ account, owner }: Awaited<ReturnType<typeof newOwner>>, secret: string) {
  const answer = await post(console.gateway, CHAT, { secret, user: "alice" });
  expect(answer.status).toBe(200);
  await answer.text();
  const id = answer.headers.get("x-request-id");
  return (await console.call(owner, "GET", `/accounts/${account.id}/requests/${id}`)).json.scopes;
}

const alice = { kind: "end_user", id: "alice", name: null };

test("holds count for project and member from the first project or limit of one on", async () => {
  const owned = await newOwner();
  const { account, owner, parts, newKey } = owned;
  const plain = await newKey();
  expect(await scopesOf(owned, plain.secret)).toEqual([alice]);
  const project = await createProject(parts, { accountId: account.id, name: "Search" });
  const inProject = await newKey(project.id);
  const ada = { kind: "member", id: owner.id, name: "Ada" };
  expect(await scopesOf(owned, inProject.secret)).toEqual([
    { kind: "project", id: project.id, name: "Search" },
    ada,
    alice,
  ]);
  await Bun.sleep(600);
  const inDefault = { kind: "project", id: account.id, name: "Default" };
  expect(await scopesOf(owned, plain.secret)).toEqual([inDefault, ada, alice]);
});

test("the list of requests selects those of one end user", async () => {
  const { account, owner, newKey } = await newOwner();
  const { secret } = await newKey();
  for (const user of ["alice", "bob", "alice"]) await post(console.gateway, CHAT, { secret, user });
  const list = async (scope: string) =>
    console.call(owner, "GET", `/accounts/${account.id}/requests?scope=${encodeURIComponent(scope)}`);
  expect((await list("end_user:alice")).json.items).toHaveLength(2);
  expect((await list("end_user:carol")).json.items).toHaveLength(0);
  expect((await list("run:alice")).json.items).toHaveLength(0);
  for (const wrong of ["alice", "end_user:", "user:alice", "key:k", "end_user:a\nb"]) {
    expect((await list(wrong)).status).toBe(422);
  }
});

test("a 402 and the page of its refusal name the project and its numbers", async () => {
  const { account, owner, parts, newKey } = await newOwner();
  const project = await createProject(parts, {
    accountId: account.id,
    name: "Search & Rank",
    spendingLimit: NO_MONEY,
  });
  const { secret } = await newKey(project.id);
  const declined = await post(console.gateway, CHAT, { secret });
  expect([declined.status, declined.headers.get("x-tollgate-limit")]).toEqual([
    402,
    "project Search%20&%20Rank",
  ]);
  const id = declined.headers.get("x-request-id");
  const { json } = await console.call(owner, "GET", `/accounts/${account.id}/refusals/${id}`);
  expect(json.spending_limit).toMatchObject({
    limit_id: `project:${project.id}`,
    kind: "project",
    id: project.id,
    name: "Search & Rank",
    limit_usd: "0.00",
    used_usd: "0.00",
    period: "total",
  });
  expect(json.rule).toContain("The spending limit of the project Search & Rank must cover");
});

test("the page of a refusal by the limit of each end user has the numbers of that user", async () => {
  const { account, owner, parts, newKey } = await newOwner();
  const project = await createProject(parts, {
    accountId: account.id,
    name: "Users",
    endUserLimit: NO_MONEY,
  });
  const { secret } = await newKey(project.id);
  const declined = await post(console.gateway, CHAT, { secret, user: "bob" });
  expect(declined.status).toBe(402);
  const id = declined.headers.get("x-request-id");
  const { json } = await console.call(owner, "GET", `/accounts/${account.id}/refusals/${id}`);
  expect(json.spending_limit).toMatchObject({
    limit_id: `project:${project.id}:each_end_user`,
    kind: "end_user",
    id: "bob",
    limit_usd: "0.00",
    used_usd: "0.00",
    on_hold_usd: "0.00",
    period: "total",
  });
});

test("a 402 of a member's limit names the member", async () => {
  const { account, owner, parts, newKey } = await newOwner();
  await setMemberLimit(parts, { accountId: account.id, personId: undefined, limit: NO_MONEY });
  const { secret } = await newKey();
  const declined = await post(console.gateway, CHAT, { secret });
  expect(declined.headers.get("x-tollgate-limit")).toBe("member Ada");
  const id = declined.headers.get("x-request-id");
  const { json } = await console.call(owner, "GET", `/accounts/${account.id}/refusals/${id}`);
  expect(json.spending_limit).toMatchObject({ limit_id: "each_member", kind: "member", name: "Ada" });
});

test("the page of a key says that the limit of each member would refuse its next request", async () => {
  const { account, owner, parts, newKey } = await newOwner();
  await setMemberLimit(parts, { accountId: account.id, personId: undefined, limit: NO_MONEY });
  const { key } = await newKey();
  const { json } = await console.call(owner, "GET", `/accounts/${account.id}/keys/${key.id}`);
  expect(json.next_refusal.code).toBe("spending_limit_exceeded");
  expect(json.bound_by).toMatchObject({ limit: "member_spending", owner: "member", max: "0.00" });
});

test("owners set the keys of tags and how end users are named, and viewers read both", async () => {
  const { account, owner } = await newOwner();
  const viewer = await console.newMember(account.id, "viewer");
  const path = `/accounts/${account.id}/attribution`;
  const read = async () => (await console.call(viewer, "GET", path)).json;
  expect(await read()).toEqual({ end_users: "plain", tag_keys: [] });
  const set = await console.call(owner, "PATCH", path, {
    end_users: "hashed",
    tag_keys: ["team", "feature"],
  });
  expect([set.status, set.json]).toEqual([200, { end_users: "hashed", tag_keys: ["feature", "team"] }]);
  expect(await read()).toEqual(set.json);
  expect((await console.call(viewer, "PATCH", path, { end_users: "off" })).status).toBe(403);
  expect((await console.call(owner, "PATCH", path, { end_users: "none" })).status).toBe(422);
  expect((await console.call(owner, "PATCH", path, { tag_keys: ["A"] })).status).toBe(422);
});

test("an owner has an end user forgotten on receipts and refusals, and a developer has not", async () => {
  const { account, owner, newKey } = await newOwner();
  const developer = await console.newMember(account.id, "developer");
  const { secret } = await newKey();
  const answer = await post(console.gateway, CHAT, { secret, user: "alice" });
  await answer.text();
  const { ledger, database } = console.gateway.tollgate;
  await ledger.setSpendLimit({
    ...NO_MONEY,
    walletId: account.id,
    limitId: "u",
    keyId: undefined,
    each: "end_user",
  });
  const declined = await post(console.gateway, CHAT, { secret, user: "alice" });
  expect(declined.headers.get("x-tollgate-limit")).toBe("end_user alice");
  const requests = `/accounts/${account.id}/requests`;
  const refusals = `/accounts/${account.id}/refusals`;
  const refused = `${refusals}/${declined.headers.get("x-request-id")}`;
  expect((await console.call(owner, "GET", refused)).json.spending_limit.id).toBe("alice");
  const forget = (actor = owner) =>
    console.call(actor, "POST", `/accounts/${account.id}/attribution/forget`, { end_user: "alice" });
  expect((await forget(developer)).status).toBe(403);
  const { status, json } = await forget();
  expect([status, json]).toEqual([200, { receipts: 1, running: 0, pseudonym: expect.any(String) }]);
  const receipt = await console.call(owner, "GET", `${requests}/${answer.headers.get("x-request-id")}`);
  expect(receipt.json.scopes).toEqual([{ kind: "end_user", id: json.pseudonym, name: null }]);
  expect((await console.call(owner, "GET", refused)).json.spending_limit.id).toBe(json.pseudonym);
  const tables = [database.tables.auditEntries, database.tables.refusedRequests];
  for (const table of tables) {
    expect(JSON.stringify(await database.db.select().from(table))).not.toContain("alice");
  }
});
