import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { addMember, addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { until, untilDayLasts } from "../../support/until.ts";
import { consoleForTests } from "./open-consoles.ts";

describe.each(DIALECTS)("what operators do in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let operator: Actor;
  beforeAll(async () => {
    operator = await addPerson(console.parts.database, { isOperator: true });
  });

  const post = (path: string, body?: object) => console.call(operator, "POST", `/operator${path}`, body);
  const get = (path: string) => console.call(operator, "GET", `/operator${path}`);
  const entriesOf = async (accountId: string, action: string) => {
    const { db, tables } = console.parts.database;
    const rows = await db.select().from(tables.auditEntries);
    return rows.filter((row) => row.accountId === accountId && row.action === action);
  };

  test("a top-up with an id and a reason is booked and recorded once", async () => {
    const { id } = await console.newAccount();
    const body = { id: "t1", amount_usd: "12.5", reason: "invoice 7" };
    const first = await post(`/accounts/${id}/top-ups`, body);
    expect(first.json).toEqual({
      posted_usd: "12.50",
      held_usd: "0.00",
      available_usd: "12.50",
      replayed: false,
    });
    const both = await Promise.all([
      post(`/accounts/${id}/top-ups`, body),
      post(`/accounts/${id}/top-ups`, body),
    ]);
    expect(both.map(({ json }) => json.replayed)).toEqual([true, true]);
    const other = await post(`/accounts/${id}/top-ups`, { ...body, amount_usd: "13" });
    expect(other.status).toBe(409);
    const entries = await entriesOf(id, "wallet.topped_up");
    expect(entries).toHaveLength(1);
    expect(JSON.parse(entries[0]?.after ?? "")).toEqual({ amount_usd: "12.50", reason: "invoice 7" });
  });

  test("a top-up with a source and an end is a credit of the wallet, and a past end is refused", async () => {
    const { id } = await console.newAccount();
    const expires_at = new Date(console.parts.now() + 86_400_000).toISOString();
    const gift = { id: "gift", amount_usd: "3.2", source: "promotion", expires_at, reason: "welcome" };
    await post(`/accounts/${id}/top-ups`, { id: "t1", amount_usd: "5", reason: "r" });
    expect((await post(`/accounts/${id}/top-ups`, gift)).json.replayed).toBe(false);
    expect((await post(`/accounts/${id}/top-ups`, gift)).json.replayed).toBe(true);
    const past = { ...gift, id: "late", expires_at: "2020-01-01T00:00:00.000Z" };
    expect((await post(`/accounts/${id}/top-ups`, past)).status).toBe(422);
    const cut = { id: "c1", amount_usd: "1", credit_id: "t1", reason: "mistake" };
    expect((await post(`/accounts/${id}/corrections`, cut)).status).toBe(200);
    const owner = await addMember(console.parts.database, id, "owner");
    const wallet = await console.call(owner, "GET", `/accounts/${id}/wallet`);
    expect(wallet.json).toMatchObject({
      credits: [
        { id: "gift", source: "promotion", left_usd: "3.20", amount_usd: "3.20", expires_at, state: "live" },
        { id: "t1", source: "purchase", left_usd: "4.00", expires_at: null, state: "live" },
      ],
      next_end: { at: expires_at, amount_usd: "3.20" },
    });
    const list = await console.call(owner, "GET", `/accounts/${id}/wallet/credits?size=1`);
    expect(list.json).toMatchObject({ items: [{ id: "gift" }], next: expect.any(String) });
    const entries = await entriesOf(id, "wallet.topped_up");
    const recorded = entries.find(({ target }) => target === "gift")?.after;
    expect(JSON.parse(recorded ?? "")).toMatchObject({ source: "promotion", expires_at });
  });

  test("a top-up whose process died after the booking is recorded by its repetition", async () => {
    const { id } = await console.newAccount();
    await console.parts.ledger.topUp({ walletId: id, topUpId: "t1", amount: parseUsd("5") });
    const answer = await post(`/accounts/${id}/top-ups`, { id: "t1", amount_usd: "5", reason: "r" });
    expect(answer.json.replayed).toBe(true);
    expect(await entriesOf(id, "wallet.topped_up")).toHaveLength(1);
  });

  test("a correction takes money off once, with its reason in audit trail, wallet and statement", async () => {
    await untilDayLasts();
    const { id } = await console.newAccount();
    await post(`/accounts/${id}/top-ups`, { id: "t1", amount_usd: "1000", reason: "invoice 7" });
    const body = { id: "c1", amount_usd: "990", reason: "1,000 for 10" };
    const first = await post(`/accounts/${id}/corrections`, body);
    expect(first.json).toMatchObject({ posted_usd: "10.00", available_usd: "10.00", replayed: false });
    const both = await Promise.all([1, 2].map(() => post(`/accounts/${id}/corrections`, body)));
    expect(both.map(({ json }) => json.replayed)).toEqual([true, true]);
    expect((await post(`/accounts/${id}/corrections`, { ...body, amount_usd: "5" })).status).toBe(409);
    const tooMuch = await post(`/accounts/${id}/corrections`, { ...body, id: "c2", amount_usd: "10.01" });
    expect([tooMuch.status, tooMuch.json.error.message]).toEqual([
      409,
      "The correction exceeds the 10.00 USD that were credited.",
    ]);
    const entries = await entriesOf(id, "wallet.corrected");
    expect(entries).toHaveLength(1);
    expect(JSON.parse(entries[0]?.after ?? "")).toEqual({ amount_usd: "990.00", reason: "1,000 for 10" });
    const wallet = `/accounts/${id}/wallet`;
    const owner = await addMember(console.parts.database, id, "owner");
    const { json } = await console.call(owner, "GET", `${wallet}/transfers`);
    expect(json.items[0]).toMatchObject({
      kind: "correction",
      amount_usd: "-990.00",
      reason: "1,000 for 10",
    });
    const month = new Date(console.parts.now()).toISOString().slice(0, 7);
    const { text } = await console.call(owner, "GET", `${wallet}/statement.csv?month=${month}`);
    expect(text).toContain('correction,c1,,-990.00,10.00,"1,000 for 10"');
  });

  test("a correction may make a balance negative, up to what was credited", async () => {
    const { key, secret } = await console.gateway.newPayer("5");
    await chat(secret);
    await console.gateway.nothingIsHeld(key.accountId);
    const body = { id: "c1", amount_usd: "5", reason: "charged back" };
    const answer = await post(`/accounts/${key.accountId}/corrections`, body);
    expect(answer.status).toBe(200);
    expect(answer.json.available_usd).toStartWith("-");
    expect((await chat(secret)).status).toBe(402);
  });

  test("wrong amounts, accounts and receipts are refused, and nothing is recorded", async () => {
    const { id } = await console.newAccount();
    for (const amount_usd of ["0", "-1", "1e3", "0.0000000001", "99999999999", "x"]) {
      const answer = await post(`/accounts/${id}/top-ups`, { id: "t", amount_usd, reason: "r" });
      expect(answer.status).toBe(422);
    }
    const unknown = await post("/accounts/nobody/top-ups", { id: "t", amount_usd: "1", reason: "r" });
    expect(unknown.status).toBe(404);
    const receipt = Bun.randomUUIDv7();
    const refund = await post(`/accounts/${id}/refunds`, { id: "r", receipt, reason: "r" });
    expect(refund.status).toBe(404);
    expect(await entriesOf(id, "wallet.topped_up")).toEqual([]);
    expect(await entriesOf(id, "wallet.refunded")).toEqual([]);
  });

  test("the rest of a charge is refunded once", async () => {
    const { key, secret } = await console.gateway.newPayer("5");
    const answer = await chat(secret);
    expect(answer.status).toBe(200);
    await console.gateway.nothingIsHeld(key.accountId);
    const receipt = answer.headers.get("x-request-id") ?? "";
    const refund = { id: "r1", receipt, reason: "broken answer" };
    const first = await post(`/accounts/${key.accountId}/refunds`, refund);
    expect(first.json).toMatchObject({ posted_usd: "5.00", replayed: false });
    expect((await post(`/accounts/${key.accountId}/refunds`, refund)).json.replayed).toBe(true);
    const more = await post(`/accounts/${key.accountId}/refunds`, { ...refund, id: "r2" });
    expect(more.status).toBe(409);
    expect(await entriesOf(key.accountId, "wallet.refunded")).toHaveLength(1);
  });

  const chat = (secret: string) =>
    fetch(`${console.gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", max_tokens: 16, messages: [{ role: "user", content: "hi" }] }),
    });

  test("a suspended account is refused at /v1 until it is resumed", async () => {
    const { key, secret } = await console.gateway.newPayer("5");
    expect((await chat(secret)).status).toBe(200);
    const { accountId } = key;
    const suspended = await post(`/accounts/${accountId}/suspend`, { reason: "abuse" });
    expect(suspended.json).toMatchObject({ id: accountId, state: "suspended" });
    await answersWith(403, secret);
    await post(`/accounts/${accountId}/resume`, { reason: "paid" });
    await answersWith(200, secret);
    expect(await entriesOf(accountId, "account.suspended")).toHaveLength(1);
    expect(await entriesOf(accountId, "account.resumed")).toHaveLength(1);
  });

  const answersWith = (status: number, secret: string) =>
    until(async () => (await chat(secret)).status === status);

  test("accounts are listed with balances, usage, keys and their last request", async () => {
    const { key, secret } = await console.gateway.newPayer("5");
    expect((await chat(secret)).status).toBe(200);
    await console.gateway.nothingIsHeld(key.accountId);
    const found = await get(`/accounts?q=${key.accountId.toUpperCase()}`);
    expect(found.json.items).toHaveLength(1);
    const [item] = found.json.items;
    const { posted } = await console.parts.ledger.balances(key.accountId);
    expect(parseUsd(item.posted_usd)).toBe(posted);
    expect(parseUsd(item.spent_30d_usd)).toBe(parseUsd("5") - posted);
    expect(item).toMatchObject({ id: key.accountId, requests_30d: 1, keys: 1, held_usd: "0.00" });
    expect(Date.now() - Date.parse(item.last_request_at)).toBeLessThan(2 * 3_600_000);
  });

  test("pages of accounts show each account once", async () => {
    for (let count = 0; count < 4; count += 1) await console.newAccount();
    const seen: string[] = [];
    let page = "";
    do {
      const { json } = await get(`/accounts?size=2${page}`);
      seen.push(...json.items.map(({ id }: { id: string }) => id));
      page = json.next === null ? "" : `&page=${encodeURIComponent(json.next)}`;
    } while (page !== "");
    const { db, tables } = console.parts.database;
    expect(seen.sort()).toEqual((await db.select().from(tables.accounts)).map(({ id }) => id).sort());
    expect((await get("/accounts?page=forged")).status).toBe(422);
  });

  test("the health shows upstreams, limiter, ledger and outbox, and nothing secret", async () => {
    const { status, json, text } = await get("/health");
    expect(status).toBe(200);
    expect(json).toMatchObject({
      limiter: { mode: "local", backend: "memory" },
      ledger: { mode: "local", open_holds: 0, held_usd: "0.00", oldest_hold_at: null },
      outbox: { entries: 0, oldest_at: null },
      database: dialect,
    });
    expect(json.upstreams.length).toBeGreaterThan(1);
    for (const { circuit, in_flight } of json.upstreams) expect([circuit, in_flight]).toEqual(["closed", 0]);
    expect(json.memory_bytes).toBeGreaterThan(1_000_000);
    expect(text).not.toContain("127.0.0.1");
    expect(text).not.toContain("sk-");
  });

  test("a circuit that an operator opened stays open until closed, and both are recorded", async () => {
    const { json } = await get("/health");
    const { name } = json.upstreams.find(({ models }: { models: string[] }) => models.includes("chat"));
    const opened = await post(`/upstreams/${name}/circuit`, { state: "open" });
    expect(opened.json).toMatchObject({ name, circuit: "open", is_forced: true, opens_again_at: null });
    const closed = await post(`/upstreams/${name}/circuit`, { state: "closed" });
    expect(closed.json).toMatchObject({ circuit: "closed", is_forced: false });
    const trail = await get("/audit-trail?action=upstream.circuit_forced");
    expect(trail.json.items.map(({ after }: { after: object }) => after)).toEqual([
      { state: "closed" },
      { state: "open" },
    ]);
    expect((await post("/upstreams/nothing/circuit", { state: "open" })).status).toBe(404);
    const probed = await post(`/upstreams/${name}/probe`);
    expect(probed.status).toBe(200);
    expect(probed.json.name).toBe(name);
  });

  test("an audit runs in the background, one at a time, and its result is kept", async () => {
    const before = await get("/audit");
    expect(before.json).toMatchObject({ ran_at: null, findings: [], checked: [] });
    const started = await Promise.all([post("/audit"), post("/audit")]);
    expect(started.map(({ status }) => status).sort()).toEqual([202, 409]);
    const deadline = performance.now() + 120_000;
    let result = await get("/audit");
    while (result.json.ran_at === null || result.json.is_running) {
      if (performance.now() > deadline) throw new Error("The audit did not end");
      await Bun.sleep(50);
      result = await get("/audit");
    }
    expect(result.json.findings).toEqual([]);
    expect(result.json.checked.length).toBeGreaterThan(5);
    for (const { ok, warnings, text } of result.json.checked) {
      expect([ok, warnings, text.length > 5]).toEqual([true, 0, true]);
    }
    expect((await post("/audit")).status).toBe(202);
  });

  test("people are listed, promoted and signed out", async () => {
    const person = await addPerson(console.parts.database, { email: "found@example.com" });
    const found = await get("/people?q=FOUND@");
    expect(found.json.items).toHaveLength(1);
    expect(found.json.items[0]).toMatchObject({ id: person.id, is_operator: false, sessions: 1 });
    expect((await post(`/people/${person.id}/end-sessions`)).json).toEqual({ ended: 1 });
    const promoted = await post(`/people/${person.id}/operator`, { is_operator: true });
    expect(promoted.json.is_operator).toBe(true);
    expect((await post("/people/nobody/operator", { is_operator: true })).status).toBe(404);
  });

  test("an operator takes a way to sign in from another person, with an entry in the trail, and none from itself", async () => {
    const { database } = console.parts;
    const { passkeys, auditEntries } = database.tables;
    const person = await addPerson(database);
    const at = { createdAtMs: 1, uses: 0, transports: "[]", isSynced: false, publicKey: "" };
    await database.db.insert(passkeys).values({ id: person.id, personId: person.id, name: "Lost", ...at });
    const ways = `/people/${person.id}/sign-in-ways`;
    expect((await get(ways)).json).toMatchObject({
      second_factor: false,
      passkeys: [{ id: person.id, name: "Lost" }],
    });
    const end = (path: string, actor = operator) => console.call(actor, "DELETE", `/operator${path}`);
    const stale = { ...operator, session: operator.session && { ...operator.session, confirmedAtMs: 0 } };
    expect((await end(`${ways}/${person.id}`, stale)).status).toBe(403);
    expect((await end(`/people/${operator.id}/sign-in-ways/second-factor`)).status).toBe(403);
    expect((await end(`${ways}/unknown`)).status).toBe(404);
    expect((await end(`${ways}/${person.id}`)).status).toBe(200);
    expect((await get(ways)).json.passkeys).toEqual([]);
    const [entry] = await database.db.select().from(auditEntries).where(eq(auditEntries.target, person.id));
    expect(entry).toMatchObject({ action: "passkey.removed", actorId: operator.id });
  });

  test("acting gives 30 minutes in the session, and management keys cannot act", async () => {
    const { id, name } = await console.newAccount();
    const begun = await post(`/accounts/${id}/act`, { reason: "ticket" });
    expect(begun.json).toMatchObject({ account_id: id, account_name: name });
    const leftMs = Date.parse(begun.json.until) - Date.now();
    expect(leftMs).toBeGreaterThan(25 * 60_000);
    expect(leftMs).toBeLessThanOrEqual(30 * 60_000);
    expect((await console.call(operator, "DELETE", "/operator/acting")).status).toBe(200);
    const program: Actor = { ...operator, id: "program", kind: "management_key", session: undefined };
    const refused = await console.call(program, "POST", `/operator/accounts/${id}/act`, { reason: "x" });
    expect(refused.status).toBe(403);
  });

  test("who is no operator reaches none of these routes", async () => {
    const { id } = await console.newAccount();
    const owner = await addMember(console.parts.database, id, "owner");
    const calls = [
      ["GET", "/accounts"],
      ["POST", `/accounts/${id}/suspend`],
      ["POST", `/accounts/${id}/top-ups`],
      ["POST", `/accounts/${id}/corrections`],
      ["POST", `/accounts/${id}/act`],
      ["GET", "/people"],
      ["POST", `/people/${owner.id}/operator`],
      ["GET", "/health"],
      ["POST", "/upstreams/x/circuit"],
      ["GET", "/audit"],
      ["GET", "/audit-trail"],
      ["GET", "/management-keys"],
    ] as const;
    for (const [method, path] of calls) {
      expect((await console.call(owner, method, `/operator${path}`)).status).toBe(403);
      expect((await console.call(undefined, method, `/operator${path}`)).status).toBe(401);
    }
  });
});
