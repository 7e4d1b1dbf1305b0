import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { updateKey } from "../../src/accounts/keys/key-changes.ts";
import { type IssuedKey, type NewKey, revokeKey } from "../../src/accounts/keys/keys.ts";
import { createProject } from "../../src/accounts/project-changes.ts";
import { ERRORS } from "../../src/errors.ts";
import { createLocation, DIALECTS } from "../accounts/temp-storage.ts";
import { CHAT, post } from "../support/client.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { until } from "../support/until.ts";

describe.each(DIALECTS)("keys that keys make, over HTTP on %s", (dialect) => {
  let books: Awaited<ReturnType<typeof createLocation>>;
  let gateway: TestGateway;
  beforeAll(async () => {
    books = await createLocation(dialect);
    gateway = await startTestGateway({ database: books.location });
  });
  afterAll(async () => {
    await gateway.stop();
    await books.drop();
  });

  const send = async (secret: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };
  const make = (secret: string, body: unknown = {}) => {
    const whole =
      typeof body === "string" ? body : { name: "run", spending_limit_usd: "2.00", ...(body as object) };
    return send(secret, "POST", "/v1/key/children", whole);
  };
  const chat = (secret: string, model = "chat") => {
    const messages = [{ role: "user", content: "Hi" }];
    return send(secret, "POST", "/v1/chat/completions", { model, max_tokens: 50, messages });
  };
  const newRoot = (options: Partial<NewKey> = {}): Promise<IssuedKey> =>
    gateway.newKey({ allowsChildren: true, ...options });

  test("a child answers its secret once, sends requests, and shows its limits", async () => {
    const root = await newRoot({ models: ["chat", "claude"] });
    const life = { least: Date.now() + 600_000, most: 0 };
    const made = await make(root.secret, { period: "5h", expires_in_s: 600, models: ["chat"] });
    life.most = Date.now() + 600_000;
    expect(made.status).toBe(200);
    expect(made.json).toMatchObject({
      object: "key",
      name: "run",
      parent_id: root.key.id,
      models: ["chat"],
      allows_children: true,
      spending_limit: { limit_usd: "2.00", period: "5h" },
    });
    expect(made.json.secret).toMatch(/^sk-tg-[\w-]{43}$/);
    expect(Date.parse(made.json.expires_at)).toBeWithin(life.least, life.most + 1);
    expect((await chat(made.json.secret)).status).toBe(200);
    expect((await chat(made.json.secret, "claude")).json.error.code).toBe("forbidden");
    const shown = await send(made.json.secret, "GET", "/v1/key");
    expect(shown.text).not.toContain(made.json.secret);
    expect(shown.json).toMatchObject({ id: made.json.id, parent_id: root.key.id, models: ["chat"] });
    const own = shown.json.spending_limits.find(
      (limit: { applies_to: string }) => limit.applies_to === "key",
    );
    expect(own).toMatchObject({ name: "run", period: "5h", limit_usd: "2.00", each: false });
    expect(Number(own.used_usd)).toBeGreaterThan(0);
    const receipts = await gateway.tollgate.ledger.receipts(
      { walletId: gateway.accountId, keyId: made.json.id },
      { size: 2 },
    );
    expect(receipts.items).toHaveLength(1);
  });

  test("limits of parents, project, member and account are shown with their owner's names", async () => {
    const { database, ledger } = gateway.tollgate;
    const account = await gateway.newPayer("5", {});
    const { accountId } = account.key;
    const money = (usd: bigint) => ({ amount: usd * 1_000_000_000n, period: "day" as const });
    const parts = { database, ledger };
    const project = await createProject(parts, { accountId, name: "Search", spendingLimit: money(3n) });
    const { people } = database.tables;
    const personId = Bun.randomUUIDv7();
    const at = { createdAt: new Date(), updatedAt: new Date() };
    const person = { id: personId, name: "Ada", email: `${personId}@example.com`, emailVerified: true };
    await database.db.insert(people).values({ ...person, isOperator: false, ...at });
    const { apiKeys } = database.tables;
    const root = await gateway.newKey({
      accountId,
      name: "root",
      allowsChildren: true,
      projectId: project.id,
      spendingLimit: money(4n),
    });
    await database.db.update(apiKeys).set({ createdBy: personId }).where(eq(apiKeys.id, root.key.id));
    const wallet = { walletId: accountId, keyId: undefined };
    await ledger.setSpendLimit({ ...wallet, limitId: "whole", ...money(9n) });
    await ledger.setSpendLimit({ ...wallet, limitId: "each_member", each: "member", ...money(5n) });
    const scope = { kind: "member", id: personId } as const;
    await ledger.setSpendLimit({ ...wallet, limitId: `member:${personId}`, scope, ...money(6n) });
    const child = (await make(root.secret)).json;
    const { json } = await send(child.secret, "GET", "/v1/key");
    expect(json).toMatchObject({ project: { id: project.id, name: "Search" }, member: { name: "Ada" } });
    const limits = json.spending_limits.map((limit: Record<string, unknown>) => [
      limit.applies_to,
      limit.name,
      limit.each,
      limit.limit_usd,
    ]);
    expect(limits.sort()).toEqual([
      ["account", null, false, "9.00"],
      ["key", "run", false, "2.00"],
      ["member", "Ada", false, "6.00"],
      ["member", "Ada", true, "5.00"],
      ["parent_key", "root", false, "4.00"],
      ["project", "Search", false, "3.00"],
    ]);
  });

  test("a body that is wrong is refused by the name of its member, before a key is made", async () => {
    const { secret } = await newRoot({ models: ["chat"] });
    const wrong: readonly [unknown, string][] = [
      [{ name: " " }, "name"],
      [{ name: 7 }, "name"],
      [{ name: "a\u202eb" }, "name"],
      [{ name: "x".repeat(101) }, "name"],
      [{ spending_limit_usd: undefined }, "spending_limit_usd"],
      [{ spending_limit_usd: "0" }, "spending_limit_usd"],
      [{ spending_limit_usd: "-1" }, "spending_limit_usd"],
      [{ spending_limit_usd: "1e3" }, "spending_limit_usd"],
      [{ spending_limit_usd: {} }, "spending_limit_usd"],
      [{ period: "year" }, "period"],
      [{ period: "169h" }, "period"],
      [{ expires_in_s: 0 }, "expires_in_s"],
      [{ expires_in_s: 2_592_001 }, "expires_in_s"],
      [{ expires_in_s: 1.5 }, "expires_in_s"],
      [{ expires_in_s: "60" }, "expires_in_s"],
      [{ models: [] }, "models"],
      [{ models: "chat" }, "models"],
      [{ models: ["chat", 1] }, "models[1]"],
      [{ models: ["chat", "none"] }, "models[1]"],
      [{ models: ["claude"] }, "models[0]"],
      [{ expires_in: 60 }, "expires_in"],
      [{ constructor: 1 }, "constructor"],
    ];
    for (const [change, path] of wrong) {
      const { status, json } = await make(secret, change);
      expect([change, status, json.error?.code]).toEqual([change, 422, "invalid_request"]);
      expect(json.error.message).toEndWith(`: ${path}`);
    }
    for (const text of ["[]", "null", '"x"']) expect((await make(secret, text)).status).toBe(422);
    for (const text of ["", "{", "\u{feff}{}"])
      expect((await make(secret, text)).status).toBeGreaterThanOrEqual(400);
    expect((await make(secret, `{"name":"${"x".repeat(70_000)}"}`)).status).toBe(413);
    expect((await make(secret, { spending_limit_usd: 0.5 })).json.spending_limit.limit_usd).toBe("0.50");
    const shown = await send(secret, "GET", "/v1/key");
    expect(shown.json.requests_per_minute).toBeNull();
  });

  test("a key that may make none, a fourth level, and a suspended account are refused", async () => {
    const plain = await gateway.newKey();
    const refused = await make(plain.secret);
    expect([refused.status, refused.json.error.code]).toEqual([403, "forbidden"]);
    let { secret } = await newRoot();
    for (const allows of [true, true, false]) {
      const { json } = await make(secret);
      expect(json.allows_children).toBe(allows);
      secret = json.secret;
    }
    expect((await chat(secret)).status).toBe(200);
    expect((await make(secret)).json.error.code).toBe("forbidden");
    expect((await make("sk-tg-none")).json.error.code).toBe("invalid_api_key");
    const other = await gateway.newPayer("1", { allowsChildren: true });
    const { accounts } = gateway.tollgate.database.tables;
    const isOther = eq(accounts.id, other.key.accountId);
    await gateway.tollgate.database.db.update(accounts).set({ state: "suspended" }).where(isOther);
    expect((await make(other.secret)).json.error.code).toBe("forbidden");
  });

  test("the tree of a key shares its requests per minute, also those that make keys", async () => {
    const root = await newRoot({ limits: { requestsPerMinute: 4 } });
    const child = (await make(root.secret)).json;
    expect((await chat(child.secret)).status).toBe(200);
    const shown = await send(child.secret, "GET", "/v1/key");
    expect(shown.json.requests_per_minute).toMatchObject({ limit: 4, used: 2, remaining: 2 });
    expect((await chat(root.secret)).status).toBe(200);
    expect((await make(child.secret)).status).toBe(200);
    const refused = await make(root.secret);
    expect([refused.status, refused.json.error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await chat(child.secret)).json.error.code).toBe("rate_limit_exceeded");
  });

  test("a body that is refused gives its slot back", async () => {
    const { secret } = await newRoot({ limits: { concurrentRequests: 1 } });
    for (let at = 0; at < 3; at += 1) expect((await make(secret, "{")).status).toBe(400);
    await until(async () => (await make(secret)).status === 200);
  });

  test("300 keys that are made at once have 300 secrets and 300 limits", async () => {
    const { accountId, secret } = await gateway.newPayer("1", { allowsChildren: true }).then((payer) => ({
      accountId: payer.key.accountId,
      secret: payer.secret,
    }));
    const made = await Promise.all(Array.from({ length: 300 }, () => make(secret)));
    expect(made.filter(({ status }) => status !== 200).map(({ text }) => text)).toEqual([]);
    expect(new Set(made.map(({ json }) => json.secret)).size).toBe(300);
    expect(await gateway.tollgate.ledger.spendLimits(accountId)).toHaveLength(300);
    const last = made.at(-1)?.json;
    expect((await send(last.secret, "GET", "/v1/key")).json.id).toBe(last.id);
  });

  test("a revoked root ends its tree, with the requests that run", async () => {
    const root = await newRoot();
    const low = (await make((await make(root.secret)).json.secret)).json;
    await updateKey(gateway.tollgate, root.key, { models: ["claude"] });
    await until(async () => (await chat(low.secret)).json.error?.code === "forbidden");
    const other = await newRoot();
    const running = (await make((await make(other.secret)).json.secret)).json;
    const never = gate();
    gateway.upstream.on("chat", answerWith(undefined, { pauseAt: { bytes: 700, gate: never.opened } }));
    const stream = await post(gateway, CHAT, { secret: running.secret, stream: true });
    expect(stream.status).toBe(200);
    await revokeKey({ database: gateway.tollgate.database }, other.key.id);
    expect(await stream.text()).toContain(ERRORS.key_revoked_charged.message);
    never.open();
    gateway.upstream.reset();
    await revokeKey({ database: gateway.tollgate.database }, root.key.id);
    await until(async () => (await chat(low.secret)).json.error?.code === "invalid_api_key");
    expect((await make(low.secret)).status).toBe(401);
  });

  test("other methods of the path are not found", async () => {
    const { secret } = await newRoot();
    expect((await send(secret, "GET", "/v1/key/children")).status).toBe(404);
  });
});
