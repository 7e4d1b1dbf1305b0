import { beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { consoleForTests } from "./open-consoles.ts";

const COOKIE = "tollgate.session=aaaaaaaaaaaaaaaa.bbbb";

describe.each(DIALECTS)("management keys of programs in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let accountId: string;
  let owner: Actor;
  let operator: Actor;
  beforeAll(async () => {
    accountId = (await console.newAccount()).id;
    owner = await addMember(console.parts.database, accountId, "owner");
    operator = await addPerson(console.parts.database, { isOperator: true });
  });

  const keysPath = () => `/accounts/${accountId}/management-keys`;
  const issue = async (role: "owner" | "developer" | "viewer") => {
    const answer = await console.call(owner, "POST", keysPath(), { name: "ci", role });
    expect(answer.status).toBe(200);
    return answer.json as { readonly key: { readonly id: string }; readonly secret: string };
  };
  const issuePlatform = async () =>
    (await console.call(operator, "POST", "/operator/management-keys", { name: "platform" })).json;
  /** Calls the real server with a key, as a program does. */
  const callAs = async (secret: string, method: string, path: string, body?: object, headers = {}) => {
    const response = await fetch(`${console.gateway.url}/console/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        ...(body ? { "content-type": "application/json" } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, text, json: JSON.parse(text) };
  };

  test("a program makes an account, tops it up and reads it, all under the key's name", async () => {
    const { secret, key } = await issuePlatform();
    const once = { "idempotency-key": "order-17" };
    const body = { name: `customer ${dialect}` };
    const made = await callAs(secret, "POST", "/accounts", body, once);
    expect(made.status).toBe(200);
    expect((await callAs(secret, "POST", "/accounts", body, once)).json).toEqual(made.json);
    const { id } = made.json;
    const topUp = { id: "t1", amount_usd: "20", reason: "plan" };
    const credited = await callAs(secret, "POST", `/operator/accounts/${id}/top-ups`, topUp);
    expect(credited.json.available_usd).toBe("20.00");
    const trail = await callAs(secret, "GET", `/accounts/${id}/audit-trail`);
    const actors = trail.json.items.map((item: Record<string, string>) => [
      item.action,
      item.actor_kind,
      item.actor_id,
    ]);
    expect(actors).toEqual([
      ["wallet.topped_up", "management_key", key.id],
      ["account.created", "management_key", key.id],
    ]);
    const created = await callAs(secret, "POST", `/accounts/${id}/management-keys`, {
      name: "c",
      role: "viewer",
    });
    expect(created.status).toBe(200);
  });

  test("a key has its role in its account, and no other account exists for it", async () => {
    const other = (await console.newAccount()).id;
    const [viewer, developer, full] = [await issue("viewer"), await issue("developer"), await issue("owner")];
    for (const { secret } of [viewer, developer, full]) {
      expect((await callAs(secret, "GET", `/accounts/${accountId}/members`)).status).toBe(200);
      expect((await callAs(secret, "GET", `/accounts/${other}/members`)).status).toBe(404);
      expect((await callAs(secret, "GET", "/operator/accounts")).status).toBe(403);
      expect((await callAs(secret, "POST", "/accounts", { name: "mine" })).status).toBe(403);
    }
    for (const { secret } of [viewer, developer]) {
      expect((await callAs(secret, "GET", keysPath())).status).toBe(403);
      const invitation = { email: "a@example.com", role: "owner" };
      expect((await callAs(secret, "POST", `/accounts/${accountId}/invitations`, invitation)).status).toBe(
        403,
      );
    }
    expect((await callAs(full.secret, "GET", keysPath())).status).toBe(200);
  });

  test("a management key opens no /v1, and an API key opens no console", async () => {
    const { secret } = await issue("owner");
    const models = await fetch(`${console.gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(models.status).toBe(401);
    expect((await callAs(console.gateway.secret, "GET", `/accounts/${accountId}`)).status).toBe(401);
  });

  test("a revoked key is refused at its next request", async () => {
    const { secret, key } = await issue("owner");
    expect((await callAs(secret, "GET", keysPath())).status).toBe(200);
    expect((await console.call(owner, "DELETE", `${keysPath()}/${key.id}`)).status).toBe(200);
    const refused = await callAs(secret, "GET", keysPath());
    expect(refused.status).toBe(401);
    expect(refused.json.error.code).toBe("not_authenticated");
    const { json } = await console.call(owner, "GET", keysPath());
    expect(json.items.find(({ id }: { id: string }) => id === key.id).state).toBe("revoked");
    expect(JSON.stringify(json)).not.toContain(secret);
  });

  test("a repeated creation shows the same secret, and the tables show none", async () => {
    const headers = { "idempotency-key": "k1", cookie: COOKIE };
    const body = { name: "ci", role: "viewer" };
    const first = await console.call(owner, "POST", keysPath(), body, headers);
    const again = await console.call(owner, "POST", keysPath(), body, headers);
    expect(again.json).toEqual(first.json);
    const { db, tables } = console.parts.database;
    const all = [tables.managementKeys, tables.idempotentAnswers, tables.auditEntries];
    const rows = await Promise.all(all.map((table) => db.select().from(table)));
    expect(JSON.stringify(rows)).not.toContain(first.json.secret);
    const changed = await console.call(owner, "POST", keysPath(), { ...body, role: "owner" }, headers);
    expect(changed.status).toBe(409);
  });

  test("a person needs a password given lately to issue keys or to book money", async () => {
    const session = { id: "s", mustChangePassword: false, confirmedAtMs: Date.now() - 16 * 60_000 };
    const late = await console.call({ ...owner, session }, "POST", keysPath(), { name: "x", role: "viewer" });
    expect(late.status).toBe(403);
    const topUp = { id: "t", amount_usd: "1", reason: "r" };
    const path = `/operator/accounts/${accountId}/top-ups`;
    expect((await console.call({ ...operator, session }, "POST", path, topUp)).status).toBe(403);
    expect((await console.parts.ledger.balances(accountId)).posted).toBe(0n);
  });

  test("ids of another account, and past expiries, are refused", async () => {
    const { key } = await issue("viewer");
    const other = (await console.newAccount()).id;
    const stranger = await addMember(console.parts.database, other, "owner");
    const foreign = await console.call(stranger, "DELETE", `/accounts/${other}/management-keys/${key.id}`);
    expect(foreign.status).toBe(404);
    expect((await console.call(operator, "DELETE", `/operator/management-keys/${key.id}`)).status).toBe(404);
    const body = { name: "x", role: "viewer", expires_at: "2020-01-01T00:00:00Z" };
    expect((await console.call(owner, "POST", keysPath(), body)).status).toBe(422);
  });
});
