import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Account } from "../../../src/accounts/accounts.ts";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { HELLO } from "../../support/model-output.ts";
import { gate } from "../../support/script.ts";
import { answerWith } from "../../support/scripted-answers.ts";
import { until } from "../../support/until.ts";
import { consoleForTests } from "./open-consoles.ts";

const DAY_MS = 86_400_000;

describe.each(DIALECTS)("keys in the console on %s", (dialect) => {
  const console = consoleForTests(dialect);
  let account: Account;
  let owner: Actor;
  beforeAll(async () => {
    account = await console.newAccount();
    owner = await console.newMember(account.id, "owner");
    await topUp(account.id, "10");
  });

  const topUp = (walletId: string, usd: string) =>
    console.gateway.tollgate.ledger.topUp({ walletId, topUpId: "t", amount: parseUsd(usd) });
  const path = (rest = "") => `/accounts/${account.id}/keys${rest}`;
  const create = async (body: object = {}, actor = owner) => {
    const answer = await console.call(actor, "POST", path(), { name: "k", ...body });
    expect(answer.text).toContain('"secret"');
    return answer.json;
  };
  const chat = (secret: string, body: object = {}) =>
    fetch(`${console.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({
        model: "chat",
        max_tokens: 100,
        messages: [{ role: "user", content: "Hi" }],
        ...body,
      }),
    });
  const trail = async (action: string, target: string) => {
    const { db, tables } = console.parts.database;
    const entries = await db.select().from(tables.auditEntries);
    return entries.filter((entry) => entry.action === action && entry.target === target);
  };

  test("an operator who acts inside the account makes a key's bounds narrower, and none wider", async () => {
    const acting = { accountId: account.id, untilMs: Date.now() + 1_800_000 };
    const operator = { ...(await addPerson(console.parts.database, { isOperator: true })), acting };
    const spending_limit = { amount_usd: "5", period: "day", time_zone: "UTC" };
    const expires_at = new Date(Date.now() + DAY_MS).toISOString();
    const { key } = await create({ models: ["chat"], requests_per_minute: 7, spending_limit, expires_at });
    const edit = (actor: Actor, change: object, version = 1) =>
      console.call(actor, "PATCH", path(`/${key.id}`), { version, ...change });
    const wider = [
      { models: null },
      { models: ["chat", "claude"] },
      { expires_at: null },
      { expires_at: new Date(Date.now() + 2 * DAY_MS).toISOString() },
      { requests_per_minute: 8 },
      { requests_per_minute: null },
      { allows_clamp: true },
      { spending_limit: null },
      { spending_limit: { ...spending_limit, amount_usd: "5.01" } },
      { spending_limit: { ...spending_limit, period: "month" } },
      { spending_limit: { ...spending_limit, time_zone: "Asia/Kolkata" } },
      { name: "renamed", requests_per_minute: 8 },
    ];
    for (const change of wider)
      expect([change, (await edit(operator, change)).status]).toEqual([change, 403]);
    expect(await trail("key.updated", key.id)).toEqual([]);
    const narrower = {
      requests_per_minute: 6,
      tokens_per_minute: 100,

      spending_limit: { ...spending_limit, amount_usd: "4" },
    };
    const edited = await edit(operator, narrower);
    expect([edited.status, edited.json.version]).toEqual([200, 2]);
    expect((await edit(owner, { models: null, spending_limit: null, expires_at: null }, 2)).status).toBe(200);
  });

  test("a created key works at once, and its secret is only in that answer", async () => {
    const { key, secret } = await create({
      name: " CI ",
      models: ["chat", "chat"],
      requests_per_minute: 7,
      spending_limit: { amount_usd: "1.5", period: "day", time_zone: "Asia/Kolkata" },
    });
    expect(key).toMatchObject({
      name: "CI",
      hint: secret.slice(0, 10),
      state: "active",
      models: ["chat"],
      version: 1,
      created_by: { id: owner.id },
      requests_per_minute: { limit: 7, used: 0, remaining: 7, source: "key" },
      spending_limit: { amount_usd: "1.50", period: "day", time_zone: "Asia/Kolkata", used_usd: "0.00" },
    });
    expect((await chat(secret)).status).toBe(200);
    const list = await console.call(owner, "GET", path());
    expect(list.text).not.toContain(secret);
    const listed = list.json.items.find(({ id }: { id: string }) => id === key.id);
    expect(listed.requests_per_minute).toMatchObject({ used: 1, remaining: 6 });
    expect(Number(listed.spent_30d_usd)).toBeGreaterThan(0);
    expect(Date.now() - Date.parse(listed.last_used_at)).toBeLessThan(DAY_MS);
    expect(await trail("key.created", key.id)).toMatchObject([{ actorId: owner.id, accountId: account.id }]);
  });

  test("a creation with one idempotency-key makes one key and repeats its answer", async () => {
    const headers = { cookie: "tollgate.session=test", "idempotency-key": crypto.randomUUID() };
    const body = { name: "once", spending_limit: { amount_usd: "1", period: "month" } };
    const first = await console.call(owner, "POST", path(), body, headers);
    const second = await console.call(owner, "POST", path(), body, headers);
    expect(second.json).toEqual(first.json);
    const other = await console.call(owner, "POST", path(), { ...body, name: "other" }, headers);
    expect(other.status).toBe(409);
    const { items } = (await console.call(owner, "GET", path())).json;
    expect(items.filter(({ name }: { name: string }) => name === "once")).toHaveLength(1);
  });

  test.each([
    ["an unknown model", { models: ["nothing"] }],
    ["an empty name", { name: "  " }],
    ["a name with a line break", { name: "a\nb" }],
    ["an expiry in the past", { expires_at: "2020-01-01T00:00:00Z" }],
    ["an expiry that is no time", { expires_at: "soon" }],
    ["a limit below 0", { requests_per_minute: -1 }],
    ["a limit that is no whole number", { tokens_per_minute: 1.5 }],
    ["an amount that is too large", { spending_limit: { amount_usd: "9999999999", period: "day" } }],
    ["an amount with a sign", { spending_limit: { amount_usd: "-1", period: "day" } }],
    ["an unknown zone", { spending_limit: { amount_usd: "1", period: "day", time_zone: "Mars/Base" } }],
    ["an unknown member", { digest: "x" }],
  ])("a creation with %s is answered 422", async (_, body) => {
    const answer = await console.call(owner, "POST", path(), { name: "k", ...body });
    expect(answer.status).toBe(422);
    expect(answer.json.error.code).toBe("invalid_request");
  });

  test("an edit of an older version is answered 409 with the key as it is now", async () => {
    const { key } = await create({ requests_per_minute: 5 });
    const url = path(`/${key.id}`);
    const edits = await Promise.all([
      console.call(owner, "PATCH", url, { version: 1, name: "first" }),
      console.call(owner, "PATCH", url, { version: 1, name: "second" }),
    ]);
    expect(edits.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = edits.find(({ status }) => status === 200)?.json;
    const lost = edits.find(({ status }) => status === 409)?.json;
    expect(lost.error.code).toBe("conflict");
    expect(lost.current).toEqual(won);
    expect(won).toMatchObject({ version: 2, requests_per_minute: { limit: 5 } });
    expect(await trail("key.updated", key.id)).toHaveLength(1);
  });

  test("an edit without a change keeps the version, so that no other editor gets a conflict", async () => {
    const { key } = await create();
    const edit = (body: object) => console.call(owner, "PATCH", path(`/${key.id}`), body);
    expect((await edit({ version: 1 })).json).toMatchObject({ id: key.id, version: 1 });
    expect((await edit({ version: 1, name: "changed" })).json.version).toBe(2);
    expect((await edit({ version: 1 })).status).toBe(409);
    expect(await trail("key.updated", key.id)).toHaveLength(1);
  });

  test("an edit removes limits with null and sets others", async () => {
    const spending = { amount_usd: "2", period: "month" };
    const { key } = await create({ requests_per_minute: 5, spending_limit: spending });
    const edit = (body: object) => console.call(owner, "PATCH", path(`/${key.id}`), body);
    const raised = await edit({ version: 1, spending_limit: { ...spending, amount_usd: "3" } });
    expect(raised.json.spending_limit.amount_usd).toBe("3.00");
    const removed = await edit({
      version: 2,
      spending_limit: null,
      requests_per_minute: null,
      concurrent_requests: 2,
    });
    expect(removed.json).toMatchObject({
      spending_limit: null,
      requests_per_minute: null,
      concurrent_requests: { limit: 2, used: 0, source: "key" },
      version: 3,
    });
  });

  test("a rotation keeps the id, and both secrets work until it is revoked", async () => {
    const { key, secret: old } = await create();
    const headers = { cookie: "tollgate.session=test", "idempotency-key": crypto.randomUUID() };
    const body = { version: 1 };
    const rotated = await console.call(owner, "POST", path(`/${key.id}/rotate`), body, headers);
    const { secret } = rotated.json;
    expect(rotated.json.key).toMatchObject({ id: key.id, version: 2, previous: { hint: key.hint } });
    const again = await console.call(owner, "POST", path(`/${key.id}/rotate`), body, headers);
    expect(again.json).toEqual(rotated.json);
    const late = await console.call(owner, "POST", path(`/${key.id}/rotate`), body);
    expect(late.status).toBe(409);
    expect(late.json.current).toMatchObject({ id: key.id, version: 2 });
    for (const each of [old, secret]) expect((await chat(each)).status).toBe(200);
    const revoked = await console.call(owner, "POST", path(`/${key.id}/revoke`), {});
    expect(revoked.json).toMatchObject({ state: "revoked", previous: null });
    await Bun.sleep(1_000);
    for (const each of [old, secret]) expect((await chat(each)).status).toBe(401);
    const page = await console.call(owner, "GET", path(`/${key.id}`));
    expect(page.json.next_refusal).toMatchObject({ code: "invalid_api_key" });
  });

  test("the old secret of a rotation is ended at once, and the new one stays", async () => {
    const { key, secret: old } = await create();
    const rotated = await console.call(owner, "POST", path(`/${key.id}/rotate`), { version: 1 });
    const end = (version: number) =>
      console.call(owner, "POST", path(`/${key.id}/end-previous`), { version });
    const late = await end(1);
    expect([late.status, late.json.current.version]).toEqual([409, 2]);
    const ended = await end(2);
    expect(ended.json).toMatchObject({ id: key.id, state: "active", previous: null, version: 3 });
    expect((await end(2)).status).toBe(409);
    expect(await trail("key.previous_ended", key.id)).toMatchObject([{ actorId: owner.id }]);
    await until(async () => (await chat(old)).status === 401);
    expect((await chat(rotated.json.secret)).status).toBe(200);
  });

  test("a developer changes own keys only, and a viewer none", async () => {
    const developer = await console.newMember(account.id, "developer");
    const viewer = await console.newMember(account.id, "viewer");
    const own = await create({}, developer);
    const other = await create();
    const edit = (actor: Actor, id: string) =>
      console.call(actor, "PATCH", path(`/${id}`), { version: 1, name: "edited" });
    expect((await edit(developer, own.key.id)).status).toBe(200);
    expect((await edit(developer, other.key.id)).status).toBe(403);
    for (const action of ["rotate", "end-previous", "revoke"]) {
      const url = path(`/${other.key.id}/${action}`);
      expect((await console.call(developer, "POST", url, { version: 1 })).status).toBe(403);
    }
    expect((await edit(viewer, own.key.id)).status).toBe(403);
    expect((await console.call(viewer, "GET", path(`/${own.key.id}`))).status).toBe(200);
    expect((await chat(other.secret)).status).toBe(200);
  });

  test("a key of another account is answered 404 on every route", async () => {
    const elsewhere = await console.newAccount();
    const stranger = await console.newMember(elsewhere.id, "owner");
    const { key, secret } = await create();
    const routes = [
      ["GET", ""],
      ["PATCH", ""],
      ["POST", "/rotate"],
      ["POST", "/end-previous"],
      ["POST", "/revoke"],
      ["POST", "/simulate"],
    ] as const;
    for (const [method, rest] of routes) {
      const body = method === "GET" ? undefined : rest === "/simulate" ? {} : { version: 1 };
      for (const accountId of [elsewhere.id, account.id]) {
        const url = `/accounts/${accountId}/keys/${key.id}${rest}`;
        const answer = await console.call(stranger, method, url, body);
        expect([method, rest, answer.status]).toEqual([method, rest, 404]);
      }
    }
    expect((await chat(secret)).status).toBe(200);
  });

  describe("the page of a key", () => {
    const page = async (id: string) => (await console.call(owner, "GET", path(`/${id}`))).json;

    test("shows the limit that binds first, and that the next request is admitted", async () => {
      const { key, secret } = await create({ requests_per_minute: 4, tokens_per_minute: 1_000 });
      await chat(secret);
      const shown = await page(key.id);
      expect(shown.bound_by).toMatchObject({ limit: "key_requests", remaining: "3" });
      expect(shown.bound_by.text).toContain("4 requests per minute");
      expect(Date.parse(shown.bound_by.resets_at)).toBeGreaterThan(Date.now());
      // A minute of which less than a tenth is used comes after money.
      expect(shown.limits.map(({ limit }: { limit: string }) => limit)).toEqual([
        "key_requests",
        "wallet",
        "key_tokens",
      ]);
      expect(shown.next_refusal).toBeNull();
    });

    test("tells a used-up minute, as the next request is refused", async () => {
      const { key, secret } = await create({ requests_per_minute: 1 });
      await chat(secret);
      const { next_refusal: refusal } = await page(key.id);
      expect(refusal.code).toBe("rate_limit_exceeded");
      expect(refusal.text).toContain("a short request to chat (200 input and 256 output tokens");
      const refused = await chat(secret);
      expect([refused.status, (await refused.json()).error.code]).toEqual([429, refusal.code]);
    });

    test("tells a used-up spending limit, as the next request is refused", async () => {
      const spending = { amount_usd: "0.0003", period: "day" };
      const { key, secret } = await create({ spending_limit: spending });
      const shown = await page(key.id);
      expect(shown.bound_by).toMatchObject({ limit: "key_spending", remaining: "0.0003" });
      expect(shown.next_refusal.code).toBe("spending_limit_exceeded");
      const refused = await chat(secret, { max_tokens: 256 });
      expect((await refused.json()).error.code).toBe("spending_limit_exceeded");
    });

    test("tells an empty wallet before it tells nothing", async () => {
      const poor = await console.newAccount();
      const payer = await console.newMember(poor.id, "owner");
      const url = `/accounts/${poor.id}/keys`;
      const created = await console.call(payer, "POST", url, { name: "k" });
      const shown = await console.call(payer, "GET", `${url}/${created.json.key.id}`);
      expect(shown.json.bound_by).toMatchObject({ limit: "wallet", remaining: "0.00" });
      expect(shown.json.next_refusal.code).toBe("insufficient_balance");
    });

    test("tells a running request that takes the only slot", async () => {
      const { key, secret } = await create({ concurrent_requests: 1 });
      const { opened, open } = gate();
      const { upstream } = console.gateway;
      upstream.reset();
      upstream.on("chat", answerWith(HELLO, { gate: opened }));
      const running = chat(secret);
      await upstream.waitForSeen(1);
      const shown = await page(key.id);
      expect(shown.concurrent_requests).toEqual({ limit: 1, used: 1, source: "key" });
      expect(shown.bound_by).toMatchObject({ limit: "key_concurrency", remaining: "0" });
      expect(shown.next_refusal.code).toBe("concurrency_exceeded");
      open();
      expect((await running).status).toBe(200);
      expect((await page(key.id)).next_refusal).toBeNull();
    });

    test("tells an expired key and a suspended account, as the next request is refused", async () => {
      const other = await console.newAccount();
      const payer = await console.newMember(other.id, "owner");
      await topUp(other.id, "1");
      const url = `/accounts/${other.id}/keys`;
      const { key, secret } = (await console.call(payer, "POST", url, { name: "k" })).json;
      const { db, tables } = console.parts.database;
      const refusal = async () => (await console.call(payer, "GET", `${url}/${key.id}`)).json.next_refusal;
      expect(await refusal()).toBeNull();
      await db.update(tables.accounts).set({ state: "suspended" }).where(eq(tables.accounts.id, other.id));
      expect(await refusal()).toMatchObject({ code: "forbidden" });
      expect((await chat(secret)).status).toBe(403);
      await db.update(tables.apiKeys).set({ expiresAtMs: 1 }).where(eq(tables.apiKeys.id, key.id));
      expect(await refusal()).toMatchObject({ code: "invalid_api_key" });
      await until(async () => (await chat(secret)).status === 401);
    });

    test("its account tells why requests of every key are refused, as the gateway refuses them", async () => {
      const { id } = await console.newAccount();
      const payer = await console.newMember(id, "owner");
      const viewer = await console.newMember(id, "viewer");
      const { secret } = (await console.call(payer, "POST", `/accounts/${id}/keys`, { name: "k" })).json;
      const refusal = async () =>
        (await console.call(viewer, "GET", `/accounts/${id}`)).json.next_refusal ?? undefined;
      const met = async () => (await (await chat(secret, { max_tokens: 256 })).json()).error?.code;
      const agree = async (code: string | undefined) => {
        expect((await refusal())?.code).toBe(code);
        // The gateway remembers a decline for a second.
        await until(async () => (await met()) === code);
      };
      await agree("insufficient_balance");
      expect((await refusal()).text).toContain("The wallet of $0.00 would refuse even a short request");
      await console.parts.ledger.topUp({ walletId: id, topUpId: "little", amount: 100_000n });
      await agree("insufficient_balance");
      await topUp(id, "1");
      await agree(undefined);
      const { ledger } = console.parts;
      const limit = {
        walletId: id,
        limitId: `all-${id}`,
        keyId: undefined,
        period: "day",
        amount: 1n,
      } as const;
      await ledger.setSpendLimit(limit);
      await agree("spending_limit_exceeded");
      await ledger.setSpendLimit({ ...limit, amount: 1_000_000_000n });
      await agree(undefined);
      await ledger.setWalletState({ walletId: id, state: "frozen" });
      await agree("forbidden");
    });

    test("a key at its own limit does not make its account refuse requests", async () => {
      const { id } = await console.newAccount();
      const payer = await console.newMember(id, "owner");
      await topUp(id, "1");
      const spending_limit = { amount_usd: "0", period: "day" };
      await console.call(payer, "POST", `/accounts/${id}/keys`, { name: "k", spending_limit });
      expect((await console.call(payer, "GET", `/accounts/${id}`)).json.next_refusal).toBeNull();
    });

    test("has the same limit and refusal as the list", async () => {
      const spending = { amount_usd: "0", period: "total" };
      const made = [await create(), await create({ spending_limit: spending })];
      made.push(await create({ requests_per_minute: 0 }));
      const { items } = (await console.call(owner, "GET", path())).json;
      const causes = [];
      const bounds = [];
      for (const { key } of made) {
        const { limits, ...shown } = await page(key.id);
        expect(items.find(({ id }: { id: string }) => id === key.id)).toEqual(shown);
        expect(limits.length).toBeGreaterThan(0);
        causes.push(shown.next_refusal?.code);
        bounds.push(shown.bound_by.limit);
      }
      expect(causes).toEqual([undefined, "spending_limit_exceeded", "rate_limit_exceeded"]);
      expect(bounds).toEqual(["wallet", "key_spending", "key_requests"]);
    });

    test("tells a model list that allows nothing that exists", async () => {
      const { key } = await create({ models: ["chat"] });
      const { db, tables } = console.parts.database;
      await db.update(tables.apiKeys).set({ models: ["gone"] });
      expect((await page(key.id)).next_refusal.code).toBe("forbidden");
      await db.update(tables.apiKeys).set({ models: null });
    });
  });

  test("a simulation replays what the key has done against other limits", async () => {
    const { key, secret } = await create();
    for (let index = 0; index < 5; index += 1) expect((await chat(secret)).status).toBe(200);
    const simulate = async (body: object) =>
      (await console.call(owner, "POST", path(`/${key.id}/simulate`), body)).json;
    expect(await simulate({})).toMatchObject({
      requests: 5,
      refused: 0,
      by: [],
      first_at: null,
      is_cut: false,
    });
    const tight = await simulate({ requests_per_minute: 2 });
    expect(tight).toMatchObject({ requests: 5, refused: 3 });
    expect(tight.by).toEqual([{ limit: "requests_per_minute", refused: 3, first_at: tight.first_at }]);
    const poor = await simulate({ spending_limit: { amount_usd: "0", period: "total" } });
    expect(poor).toMatchObject({ refused: 5, by: [{ limit: "spending_limit", refused: 5 }] });
  });
});
