import { beforeAll, describe, expect, test } from "bun:test";
import type { Actor, Role } from "../../../src/accounts/audit-trail.ts";
import { issueKey } from "../../../src/accounts/keys/keys.ts";
import { createConsoleApi } from "../../../src/http/console/routes.ts";
import { addMember } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { consoleForTests } from "./open-consoles.ts";

/** Bodies that reach the lookup of the item; a route that is not listed has none. */
const BODIES: Readonly<Record<string, unknown>> = {
  "PATCH members/:person": { role: "viewer" },
  "PATCH keys/:key": { version: 1, name: "stolen" },
  "POST keys/:key/rotate": { version: 1 },
  "POST keys/:key/end-previous": { version: 1 },
  "POST keys/:key/simulate": { requests_per_minute: 1 },
  "PATCH projects/:project": { version: 1, name: "stolen" },
  "PUT member-limits/:person": { spending_limit: { amount_usd: "1", period: "day" } },
  "PUT keys/:key/recording": {
    ...{ version: 1, until: null, kept_hours: 1, keeps_media: false, patterns: [], expressions: [] },
  },
  "PATCH notice-rules/:rule": { version: 1, threshold: "7" },
};
const PREFIX = "/console/api/accounts/:account/";

describe.each(DIALECTS)("ids of another account in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let victim: { id: string; owner: Actor; items: Readonly<Record<string, string>> };
  let own: { id: string; actors: ReadonlyMap<string, Actor> };
  beforeAll(async () => {
    victim = await newVictim();
    own = await newAttackers();
  });

  /** An account with one item of every kind. */
  async function newVictim() {
    const { database, ledger, refusals } = { ...console.parts, ...console.parts.gateway() };
    const { id } = await console.newAccount();
    const owner = await addMember(database, id, "owner");
    const member = await addMember(database, id, "viewer");
    const { key } = await issueKey({ database, ledger, actor: owner }, { accountId: id, name: "own" });
    const create = async (path: string, body: unknown) => {
      const { status, json } = await console.call(owner, "POST", `/accounts/${id}/${path}`, body);
      expect([path, status]).toEqual([path, 200]);
      return json;
    };
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const project = await create("projects", { name: "own" });
    const invitation = await create("invitations", { email: "new@example.com", role: "viewer" });
    const { key: managementKey } = await create("management-keys", { name: "mk", role: "viewer" });
    const { link } = await create("links", { shows_names: false, expires_at });
    const rule = { kind: "balance_below", threshold: "5", emails: [], webhook_url: null };
    const { id: ruleId } = await create("notice-rules", rule);
    await create(`notice-rules/${ruleId}/test`, {});
    const notices = await console.call(owner, "GET", `/accounts/${id}/notices`);
    const checkout = { id: `cs_${Bun.randomUUIDv7()}`, accountId: id, amount: 5_000_000_000n };
    const order = { ...checkout, currency: "usd", createdBy: owner.id, createdAtMs: Date.now() };
    await database.db.insert(database.tables.checkouts).values(order);
    await ledger.topUp({ walletId: id, topUpId: "t", amount: 1_000_000_000n });
    const requestId = Bun.randomUUIDv7();
    const money = { amount: 1_000_000n, minimum: 1_000_000n, ttlMs: 3_600_000 };
    const facts = { surface: "chat", model: "chat" };
    await ledger.hold({ walletId: id, holdId: requestId, keyId: key.id, ...money, facts });
    const refusal = { accountId: id, keyId: key.id, cause: "wallet_empty", model: "chat" } as const;
    const none = { requestedModel: "chat", text: undefined, retryAfterS: undefined, facts: undefined };
    const refusedId = Bun.randomUUIDv7();
    refusals.note({ requestId: refusedId, ...refusal, surface: "chat", ...none });
    await refusals.flush();
    const times = { createdAtMs: Date.now(), expiresAtMs: Date.now() + 3_600_000 };
    await database.db
      .insert(database.tables.recordings)
      .values({ accountId: id, requestId, keyId: key.id, masterId: "m", sealed: "", bytes: 1, ...times });
    const items = {
      person: member.id,
      project: project.id,
      invitation: invitation.id,
      link: link.id,
      rule: ruleId,
      notice: notices.json.items[0].id,
      checkout: checkout.id,
      payment: checkout.id,
      request_id: refusedId,
      id: requestId,
      "keys/:key": key.id,
      "management-keys/:key": managementKey.id,
    };
    return { id, owner, items };
  }

  async function newAttackers() {
    const { id } = await console.newAccount();
    const actors = new Map<string, Actor>();
    for (const role of ["owner", "developer", "viewer"] satisfies Role[]) {
      const member = await console.newMember(id, role);
      actors.set(role, member);
      const key = { ...member, kind: "management_key", role: { accountId: id, role } } as const;
      actors.set(`management key of ${role}`, { ...key, id: Bun.randomUUIDv7(), session: undefined });
    }
    const untilMs = Date.now() + 3_600_000;
    actors.set("acting operator", console.newOperator({ acting: { accountId: id, untilMs } }));
    return { id, actors };
  }

  /** The routes below an account that name an item, with the path that names the victim's. */
  function routesWithItems() {
    return createConsoleApi(console.parts).routes.flatMap(({ method, path }) => {
      const [, rest] = path.split(PREFIX);
      // A month is of every account.
      const names = (rest?.match(/:\w+/g) ?? []).filter((name) => name !== ":month");
      if (rest === undefined || names.length === 0) return [];
      const filled = rest.replace(/([\w-]+)\/:(\w+)/g, (_, folder: string, name: string) => {
        const id = victim.items[`${folder}/:${name}`] ?? victim.items[name];
        if (id === undefined) throw new Error(`The test has no item for :${name} of ${path}`);
        return `${folder}/${encodeURIComponent(id)}`;
      });
      return [{ method: String(method), name: `${method} ${rest}`, filled }];
    });
  }

  test("are not found below an account of one's own, by any role, on any route", async () => {
    const routes = routesWithItems();
    expect(routes.length).toBeGreaterThan(15);
    const before = await readVictim();
    const wrong: string[] = [];
    for (const { method, name, filled } of routes) {
      const statuses = new Map<string, number>();
      for (const [who, actor] of own.actors) {
        const body = method === "GET" ? undefined : (BODIES[name] ?? {});
        const answer = await console.call(actor, method, `/accounts/${own.id}/${filled}`, body);
        statuses.set(who, answer.status);
        // What a role may not do at all is 403, whatever the id.
        if (answer.status !== 404 && answer.status !== 403) wrong.push(`${name} as ${who}: ${answer.status}`);
        if (answer.text.includes(victim.id)) wrong.push(`${name} as ${who} names the other account`);
      }
      if (![...statuses.values()].includes(404)) wrong.push(`${name}: nobody reached the lookup`);
    }
    expect(wrong).toEqual([]);
    expect(await readVictim()).toEqual(before);
  });

  test("are found by their own account, so that the routes above are spelled right", async () => {
    const found: string[] = [];
    for (const { method, name, filled } of routesWithItems().filter((route) => route.method === "GET")) {
      const { status } = await console.call(victim.owner, method, `/accounts/${victim.id}/${filled}`);
      found.push(`${name}: ${status}`);
    }
    expect(found.filter((line) => !/: (200|501)$/.test(line))).toEqual([]);
  });

  test("are not found in bodies and filters either", async () => {
    const owner = own.actors.get("owner");
    const key = victim.items["keys/:key"];
    const at = `/accounts/${own.id}`;
    const messages = [{ role: "user", content: "hi" }];
    const expires_at = new Date(Date.now() + 86_400_000).toISOString();
    const playground = await console.call(owner, "POST", `${at}/playground`, {
      key,
      model: "chat",
      messages,
    });
    const link = await console.call(owner, "POST", `${at}/links`, { key, shows_names: true, expires_at });
    expect([playground.status, link.status]).toEqual([404, 404]);
    // A project of another account is answered like one that nothing has.
    const answers: string[] = [];
    for (const project_id of [victim.items.project, victim.id, "none"]) {
      answers.push((await console.call(owner, "POST", `${at}/keys`, { name: "k", project_id })).text);
      expect((await console.call(owner, "GET", `${at}/keys?project=${project_id}`)).json.items).toEqual([]);
      expect((await console.call(owner, "GET", `${at}/keys?parent=${key}`)).json.items).toEqual([]);
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain("project_id");
    const requests = await console.call(owner, "GET", `${at}/requests?key=${key}`);
    expect(requests.json?.items ?? []).toEqual([]);
    const usage = await console.call(owner, "GET", `${at}/usage?key=${key}`);
    expect(usage.json?.total?.requests ?? 0).toBe(0);
    const found = await console.call(owner, "GET", `/find?q=${victim.items.id}`);
    expect(found.json.items).toEqual([]);
  });

  /** What the victim's owner sees of its own items. */
  async function readVictim() {
    const paths = [
      ...["members", "member-limits", "projects", "invitations", "keys", "management-keys"],
      ...["links", "notice-rules", "notices"],
    ];
    return Promise.all(
      paths.map(
        async (path) => (await console.call(victim.owner, "GET", `/accounts/${victim.id}/${path}`)).json,
      ),
    );
  }
});
