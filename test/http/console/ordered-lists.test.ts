import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { chunksOf } from "../../../src/domain/chunks.ts";
import { parseUsd } from "../../../src/domain/money.ts";
import { planPeriodStart } from "../../../src/domain/plan-period.ts";
import { printPlan } from "../../../src/plans/plan-text.ts";
import { addPerson } from "../../accounts/actors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { PRO } from "../../plans/samples.ts";
import { consoleForTests } from "./open-consoles.ts";

const DAY_MS = 86_400_000;
const COUNT = 9;
/** What a search must take as plain text. */
const HOSTILE = ["%", "_", "\\", "'", '"', "%%%", "a\u0301", "\u202eabc", "\ud800", "((a+)+)+$"];

describe.each(DIALECTS)("lists that the server searches and orders in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let operator: Actor;
  let owner: Actor;
  let accountId: string;
  let lists: Readonly<Record<"codes" | "subscriptions" | "notices" | "credits", string>>;

  beforeAll(async () => {
    const { database, ledger } = console.parts;
    const { db, tables } = database;
    operator = await addPerson(database, { isOperator: true });
    ({ id: accountId } = await console.newAccount("Zebra 100%"));
    owner = await console.newMember(accountId, "owner");
    const atMs = Date.now() - 10 * DAY_MS;
    const numbers = Array.from({ length: COUNT }, (_, n) => n);
    await db.insert(tables.redeemCodes).values(
      numbers.map((n) => ({
        ...{ id: `code-${n}`, digest: `${n}`, hint: `AB${n}`, note: n === 4 ? 'fair "50%"' : null },
        ...{ createdBy: "op", createdAtMs: atMs + n, amount: parseUsd(String(n % 3)), creditedAtMs: null },
        expiresAtMs: n % 3 === 0 ? null : atMs + n * 3 * DAY_MS,
        redeemedAtMs: n > 6 ? atMs : null,
        accountId: n === 8 ? accountId : null,
      })),
    );
    const others = await Promise.all(numbers.map((n) => console.newAccount(`Customer ${"edcba"[n] ?? n}`)));
    for (const [n, { id }] of others.entries()) {
      const plan = { ...PRO, id: n % 2 ? "max" : "pro", name: n % 2 ? "Max" : "Pro" };
      const anchorMs = atMs + (n % 4) * DAY_MS;
      const nextAtMs = planPeriodStart({ atMs: anchorMs, timeZone: "UTC", period: "month" }, 1);
      await db.insert(tables.subscriptions).values({
        ...{ id: `sub-${n}`, accountId: id, plan: printPlan(plan), timeZone: "UTC", anchorMs },
        ...{ anchorPeriod: 0, nextPeriod: 1, periodGrant: 0n, createdAtMs: atMs, createdBy: "op" },
        state: n === 8 ? "ended" : n === 7 ? "paused" : "active",
        nextAtMs: n > 6 ? null : nextAtMs,
        endedAtMs: n === 8 ? atMs : null,
      });
    }
    await db.insert(tables.notices).values(
      numbers.map((n) => ({
        ...{ id: `0000${n}`, accountId, ruleId: "rule", subject: accountId, raisedAtMs: atMs + n },
        data: JSON.stringify({ kind: "key_limit", text: `Key "n${n}" 80%`, threshold: "80", value: "81" }),
        endedAtMs: n < 3 ? null : atMs,
        readAtMs: n > 6 ? null : atMs,
      })),
    );
    for (const n of numbers) {
      const expiresAtMs = n % 2 ? Date.now() + (10 - n) * DAY_MS : undefined;
      const amount = parseUsd(String(1 + (n % 4)));
      await ledger.topUp({ walletId: accountId, topUpId: `top-${n}`, amount, expiresAtMs });
    }
    lists = {
      codes: "/operator/codes",
      subscriptions: "/operator/subscriptions",
      notices: `/accounts/${accountId}/notices`,
      credits: `/accounts/${accountId}/wallet/credits`,
    };
  });

  type Item = Readonly<Record<string, unknown>>;
  const read = async (list: keyof typeof lists, query = "") =>
    console.call(
      list === "codes" || list === "subscriptions" ? operator : owner,
      "GET",
      `${lists[list]}?${query}`,
    );
  const allPages = async (list: keyof typeof lists, query: string) => {
    const found: Item[] = [];
    for (let page = ""; ; ) {
      const { status, json } = await read(list, `${query}&size=2${page}`);
      expect(status).toBe(200);
      found.push(...json.items);
      if (json.next === null) return found;
      page = `&page=${encodeURIComponent(json.next)}`;
    }
  };

  const ORDERED = [
    ["codes", "amount", ({ amount_usd }: Item) => Number(amount_usd)],
    ["codes", "created", ({ created_at }: Item) => created_at],
    ["codes", "expires", ({ expires_at }: Item) => expires_at],
    ["codes", "redeemed", ({ redeemed_at }: Item) => redeemed_at],
    ["subscriptions", "account", ({ account_name }: Item) => String(account_name).toLowerCase()],
    ["subscriptions", "plan", ({ plan }: Item) => (plan as Item).name],
    ["subscriptions", "next", ({ ended_at, next_period_at }: Item) => ended_at ?? next_period_at],
    ["credits", "left", ({ left_usd }: Item) => Number(left_usd)],
    ["credits", "amount", ({ amount_usd }: Item) => Number(amount_usd)],
    ["credits", "ends", ({ expires_at }: Item) => expires_at],
  ] as const;
  test.each(ORDERED)(
    "%s by %s: each once over pages, in both orders, without a value last",
    async (list, by, of) => {
      for (const sign of [1, -1]) {
        const values = (await allPages(list, `sort=${sign === 1 ? "" : "-"}${by}`)).map(of);
        expect(values).toHaveLength(COUNT);
        const known = values.filter((value) => value !== null);
        expect(values.slice(0, known.length)).toEqual(known);
        const compare = (a: unknown, b: unknown) =>
          sign * (Number((a as never) > (b as never)) - Number((a as never) < (b as never)));
        expect(known).toEqual(known.toSorted(compare));
      }
    },
  );

  const FOUND = [
    ["codes", "q=ab4", 1],
    ["codes", "q=%2250%25", 1],
    ["codes", "q=ZEBRA+100%25", 1],
    ["codes", "state=open", 5],
    ["codes", "state=expired", 2],
    ["codes", "state=redeemed", 1],
    ["codes", "state=revoked", 1],
    ["subscriptions", "q=customer+e", 1],
    ["subscriptions", "q=max", 4],
    ["subscriptions", "q=PRO&live=true", 4],
    ["subscriptions", "state=paused", 1],
    ["notices", "q=%22n4%22", 1],
    ["notices", "q=80%25", 9],
    ["notices", "state=unread", 2],
    ["notices", "state=crossed&q=n2", 1],
    ["credits", "q=TOP-3", 1],
    ["credits", "live=true", 9],
    ["credits", "q=purchase&live=true&sort=-amount", 9],
  ] as const;
  test.each(FOUND)("%s with %s finds %d", async (list, query, count) => {
    expect(await allPages(list, query)).toHaveLength(count);
  });

  test("a name with letters beyond ASCII is found as it is written", async () => {
    const { id } = await console.newAccount("ÉLODIE Straße");
    for (const text of ["ÉLODIE Straße", "lodie stra", "É"]) {
      const { json } = await console.call(
        operator,
        "GET",
        `/operator/accounts?q=${encodeURIComponent(text)}`,
      );
      expect([text, json.items.map((item: Item) => item.id)]).toEqual([text, [id]]);
    }
  });

  test("one page of an audit trail searches 10,000 entries, and the next one goes on behind them", async () => {
    const { db, tables } = console.parts.database;
    const { id } = await console.newAccount("Busy");
    const member = await console.newMember(id, "owner");
    const atMs = Date.now() - DAY_MS;
    const entries = Array.from({ length: 10_050 }, (_, n) => ({
      ...{ id: Bun.randomUUIDv7("hex", atMs + n), accountId: id, actorKind: "person" as const, actorId: "p" },
      ...{ actorName: n < 20 ? "rare@example.com" : "busy@example.com", isActing: false },
      ...{ action: "key.changed", target: "k", atMs: atMs + n },
    }));
    for (const some of chunksOf(entries, 1_000)) await db.insert(tables.auditEntries).values(some);
    const trail = `/accounts/${id}/audit-trail`;
    const first = (await console.call(member, "GET", `${trail}?actor=rare`)).json;
    expect([first.items.length, typeof first.next]).toEqual([0, "string"]);
    const second = (await console.call(member, "GET", `${trail}?actor=rare&page=${first.next}`)).json;
    expect([second.items.length, second.next]).toEqual([20, null]);
    const from = new Date(atMs + 10_000).toISOString();
    const recent = (await console.call(member, "GET", `${trail}?actor=rare&from=${from}`)).json;
    expect(recent).toEqual({ items: [], next: null });
    const { text } = await console.call(member, "GET", `${trail}.csv?actor=rare`);
    expect(text.trim().split("\r\n")).toHaveLength(21);
  });

  test("search texts of pattern characters, quotes, marks and halves of characters are plain texts", async () => {
    for (const list of Object.keys(lists) as (keyof typeof lists)[]) {
      for (const text of HOSTILE) {
        const { status, json } = await read(list, `q=${encodeURIComponent(text.toWellFormed())}`);
        expect([list, text, status]).toEqual([list, text, 200]);
        const isPlain = text === "%" || text === '"' || text === "_" || text === "'" || text === "\\";
        if (!isPlain) expect(json.items).toEqual([]);
      }
      expect((await read(list, "q=%00")).status).toBe(422);
      expect((await read(list, `q=${"x".repeat(10_000)}`)).status).toBe(422);
      expect((await read(list, "sort=digest")).status).toBe(422);
    }
  });

  test("a token of another order, or with another value, is refused or a mere position", async () => {
    const { next } = (await read("codes", "sort=amount&size=2")).json;
    for (const sort of ["-amount", "created"]) {
      expect((await read("codes", `sort=${sort}&page=${next}`)).status).toBe(422);
    }
    const forge = (...token: unknown[]) => Buffer.from(JSON.stringify(token)).toString("base64url");
    const forged = [
      forge("amount", "1; DROP", "x"),
      forge("amount", 1, "x"),
      forge("amount", "9".repeat(19), "x"),
    ];
    forged.push(forge("amount", "1", "a'b"), forge("amount"), "x", Buffer.from("null").toString("base64url"));
    for (const page of forged) expect((await read("codes", `sort=amount&page=${page}`)).status).toBe(422);
    const nul = forge("account", "a\0", "x");
    expect((await read("subscriptions", `sort=account&page=${nul}`)).status).toBe(422);
    expect((await read("codes", "page=%27--")).status).toBe(422);
    expect((await read("credits", "sort=left&page=999")).status).toBe(422);
  });

  test("a row that changes between two pages moves no other one", async () => {
    const { db, tables } = console.parts.database;
    const first = (await read("codes", "sort=amount&size=4")).json;
    const last = first.items.at(-1).id;
    await db.update(tables.redeemCodes).set({ amount: 1n }).where(eq(tables.redeemCodes.id, last));
    const rest = (await read("codes", `sort=amount&size=50&page=${first.next}`)).json.items;
    const ids = [...first.items, ...rest].map(({ id }: Item) => id);
    expect(new Set(ids).size).toBe(COUNT);
    expect(ids).toHaveLength(COUNT);
  });

  test("a credit that is spent between two pages of live credits hides no other one", async () => {
    const { ledger } = console.parts;
    const { id: walletId } = await console.newAccount("Spender");
    const member = await console.newMember(walletId, "owner");
    for (const n of [1, 2, 3, 4]) {
      const expiresAtMs = Date.now() + n * DAY_MS;
      await ledger.topUp({ walletId, topUpId: `top-${n}`, amount: parseUsd("1"), expiresAtMs });
    }
    const list = `/accounts/${walletId}/wallet/credits?live=true&size=2`;
    const first = (await console.call(member, "GET", list)).json;
    await ledger.topUp({ walletId, topUpId: "correction", amount: -parseUsd("2") });
    const rest = (await console.call(member, "GET", `${list}&page=${first.next}`)).json;
    const ids = [...first.items, ...rest.items].map((item: Item) => item.id);
    expect(ids).toEqual(["top-1", "top-2", "top-3", "top-4"]);
    expect(rest.next).toBeNull();
  });
});
