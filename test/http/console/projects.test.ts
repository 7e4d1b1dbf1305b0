import { beforeAll, describe, expect, test } from "bun:test";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { createMakeChild } from "../../../src/accounts/keys/child-keys.ts";
import { addMember } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { consoleForTests } from "./open-consoles.ts";

const DAILY = { amount_usd: "5", period: "day", time_zone: "Asia/Kolkata" };
const WINDOW = { amount_usd: "1", period: "5h" };

describe.each(DIALECTS)("projects and limits of members in the console on %s", (dialect) => {
  const console = consoleForTests(dialect);
  let account: Account;
  let owner: Actor;
  let developer: Actor;
  let viewer: Actor;
  beforeAll(async () => {
    account = await console.newAccount();
    owner = await addMember(console.parts.database, account.id, "owner");
    developer = await addMember(console.parts.database, account.id, "developer");
    viewer = await addMember(console.parts.database, account.id, "viewer");
  });

  const call = (
    actor: Actor,
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ) => console.call(actor, method, `/accounts/${account.id}/${path}`, body, headers);
  const create = async (body: object = {}) => {
    const { status, json } = await call(owner, "POST", "projects", { name: Bun.randomUUIDv7(), ...body });
    expect(status).toBe(200);
    return json;
  };
  const ownerParts = () => ({ ...console.parts, ledger: console.gateway.tollgate.ledger });

  test("an owner creates, limits, renames, archives and restores a project", async () => {
    const name = `Search ${dialect}`;
    const made = await create({ name, spending_limit: DAILY, end_user_limit: WINDOW });
    expect(made).toMatchObject({
      name,
      is_default: false,
      archived_at: null,
      version: 1,
      keys: 0,
      spending_limit: { amount_usd: "5.00", period: "day", used_usd: "0.00", remaining_usd: "5.00" },
      end_user_limit: { amount_usd: "1.00", period: "5h", time_zone: null },
    });
    expect((await call(viewer, "GET", `projects/${made.id}`)).json).toEqual(made);
    const edit = (body: object, actor = owner) => call(actor, "PATCH", `projects/${made.id}`, body);
    const renamed = await edit({ version: 1, name: `Find ${dialect}`, end_user_limit: null });
    expect(renamed.json).toMatchObject({
      version: 2,
      end_user_limit: null,
      spending_limit: { period: "day" },
    });
    const late = await edit({ version: 1, spending_limit: null });
    expect([late.status, late.json.error.code]).toEqual([409, "conflict"]);
    expect(late.json.current).toEqual(renamed.json);
    expect((await edit({ version: 2 })).json.version).toBe(2);
    expect((await edit({ version: 1 })).status).toBe(409);
    const archived = await edit({ version: 2, is_archived: true });
    expect(Date.parse(archived.json.archived_at)).toBeGreaterThan(0);
    const refused = await call(owner, "POST", "keys", { name: "k", project_id: made.id });
    expect([refused.status, refused.json.error.code]).toEqual([409, "conflict"]);
    expect((await edit({ version: 3, is_archived: false })).json.archived_at).toBeNull();
    for (const actor of [developer, viewer]) {
      expect((await edit({ version: 4, name: "x" }, actor)).status).toBe(403);
      expect((await call(actor, "POST", "projects", { name: "x" })).status).toBe(403);
    }
  });

  test("a project is created once per idempotency key, and a name once in an account", async () => {
    const body = { name: `Once ${dialect}`, spending_limit: WINDOW };
    const headers = { "idempotency-key": "project-1" };
    const token = { ...headers, cookie: "tollgate.session=aaaaaaaaaaaaaaaa.bbbb" };
    const first = await call(owner, "POST", "projects", body, token);
    expect(first.status).toBe(200);
    expect((await call(owner, "POST", "projects", body, token)).json).toEqual(first.json);
    expect((await call(owner, "POST", "projects", body)).status).toBe(409);
    expect((await call(owner, "POST", "projects", { name: "Default" })).status).toBe(409);
  });

  test("the default project is listed first, limited like others, and owns keys without a project", async () => {
    const { items } = (await call(developer, "GET", "projects")).json;
    expect(items[0]).toMatchObject({ id: account.id, name: "Default", is_default: true });
    const { version } = items[0];
    const limited = await call(owner, "PATCH", `projects/${account.id}`, { version, spending_limit: DAILY });
    expect(limited.json).toMatchObject({
      id: account.id,
      version: version + 1,
      spending_limit: { period: "day" },
    });
    const archive = { version: version + 1, is_archived: true };
    expect((await call(owner, "PATCH", `projects/${account.id}`, archive)).status).toBe(409);
    const { key } = (await call(developer, "POST", "keys", { name: "plain" })).json;
    expect(key.project_id).toBe(account.id);
    const listed = (await call(viewer, "GET", `keys?project=${account.id}`)).json.items;
    expect(listed.map(({ id }: { id: string }) => id)).toContain(key.id);
    const page = (await call(viewer, "GET", `keys/${key.id}`)).json;
    const bound = page.limits.map(({ limit, owner: of }: Record<string, string>) => [limit, of]);
    expect(bound).toContainEqual(["project_spending", "project"]);
    await call(owner, "PATCH", `projects/${account.id}`, { version: version + 1, spending_limit: null });
  });

  test("a key moves between projects, by version, with the keys below it", async () => {
    const [one, other] = [await create(), await create()];
    const body = { name: "root", project_id: one.id, allows_children: true };
    const made = (await call(developer, "POST", "keys", body)).json;
    expect(made.key).toMatchObject({ project_id: one.id, parent_id: null, allows_children: true });
    const { ledger } = ownerParts();
    const makeChild = createMakeChild({ ...console.parts, ledger });
    const caller = await console.parts.gateway().authenticate(made.secret);
    const spendingLimit = { amount: 1n, period: "total" } as const;
    const wanted = { name: "low", spendingLimit, lifeMs: 60_000, models: undefined };
    const child = await makeChild({ key: caller.key, secret: made.secret }, wanted);
    const edit = (change: object, key = made.key.id) => call(developer, "PATCH", `keys/${key}`, change);
    expect((await edit({ version: 1, project_id: other.id })).json.project_id).toBe(other.id);
    expect((await edit({ version: 1, project_id: null })).status).toBe(409);
    const below = (await call(viewer, "GET", `keys?parent=${made.key.id}`)).json.items;
    expect(below).toMatchObject([{ id: child.key.id, project_id: other.id, parent_id: made.key.id }]);
    const top = (await call(viewer, "GET", `keys?project=${other.id}`)).json.items;
    expect(top.map(({ id }: { id: string }) => id)).toEqual([made.key.id]);
    const { version } = below[0];
    for (const change of [{ project_id: one.id }, { requests_per_minute: 1 }, { expires_at: null }]) {
      expect((await edit({ version, ...change }, child.key.id)).status).toBe(422);
    }
    expect((await edit({ version, name: "renamed" }, child.key.id)).json.name).toBe("renamed");
    expect((await call(owner, "GET", `projects/${other.id}`)).json.keys).toBe(1);
    const trail = (await call(owner, "GET", "audit-trail")).json.items;
    const born = trail.find(({ target }: { target: string }) => target === child.key.id && target);
    expect(born).toBeDefined();
    const kinds = trail.map(({ actor_kind }: { actor_kind: string }) => actor_kind);
    expect(kinds).toContain("api_key");
  });

  test("an operator who acts inside the account moves no key and lets none make keys", async () => {
    const project = await create();
    const { key } = (await call(owner, "POST", "keys", { name: "k" })).json;
    const acting = { accountId: account.id, untilMs: Date.now() + 1_800_000 };
    const operator = console.newOperator({ acting });
    for (const change of [{ project_id: project.id }, { allows_children: true }]) {
      expect((await call(operator, "PATCH", `keys/${key.id}`, { version: 1, ...change })).status).toBe(403);
    }
    const limit = { version: 1, spending_limit: null };
    expect((await call(operator, "PATCH", `projects/${project.id}`, limit)).status).toBe(403);
    expect((await call(operator, "GET", "projects")).status).toBe(200);
  });

  test("an owner limits one member and each member; others read it", async () => {
    const set = await call(owner, "PUT", `member-limits/${developer.id}`, { spending_limit: DAILY });
    const own = set.json.items.find(({ person_id }: { person_id: string }) => person_id === developer.id);
    expect(own).toMatchObject({
      spending_limit: { amount_usd: "5.00", used_usd: "0.00" },
      each_member: null,
    });
    const each = await call(owner, "PUT", "member-limits", { spending_limit: WINDOW });
    expect(each.json.each_member).toEqual({ amount_usd: "1.00", period: "5h", time_zone: null });
    const read = (await call(viewer, "GET", "member-limits")).json;
    expect(read.items).toHaveLength(3);
    for (const item of read.items) expect(item.each_member).toMatchObject({ amount_usd: "1.00" });
    for (const actor of [developer, viewer]) {
      expect((await call(actor, "PUT", "member-limits", { spending_limit: null })).status).toBe(403);
    }
    const wrong = { spending_limit: { ...DAILY, period: "169h" } };
    expect((await call(owner, "PUT", "member-limits", wrong)).status).toBe(422);
    expect((await call(owner, "PUT", "member-limits/nobody", { spending_limit: DAILY })).status).toBe(404);
    await call(owner, "PUT", `member-limits/${developer.id}`, { spending_limit: null });
    const none = (await call(owner, "PUT", "member-limits", { spending_limit: null })).json;
    expect(none.each_member).toBeNull();
    expect(none.items.every((item: Record<string, unknown>) => item.spending_limit === null)).toBe(true);
  });

  test("a management key of an owner manages projects", async () => {
    const { secret } = (await call(owner, "POST", "management-keys", { name: "ci", role: "owner" })).json;
    const response = await fetch(`${console.gateway.url}/console/api/accounts/${account.id}/projects`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `By program ${dialect}` }),
    });
    expect(response.status).toBe(200);
  });
});
