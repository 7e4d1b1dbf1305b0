import { beforeAll, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/accounts/audit-trail.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { consoleForTests } from "./open-consoles.ts";

describe.each(DIALECTS)("the list of keys in %s", (dialect) => {
  const console = consoleForTests(dialect);
  let owner: Actor;
  let root: string;
  beforeAll(async () => {
    const { id } = await console.newAccount();
    owner = await console.newMember(id, "owner");
    root = `/accounts/${id}/keys`;
    const { db, tables } = console.parts.database;
    const createdAtMs = Date.now() - 86_400_000;
    // Keys of one moment, as an import makes them, have an order all the same.
    const rows = Array.from({ length: 25 }, (_, index) => ({
      ...{ id: `key-${String(index).padStart(2, "0")}`, accountId: id, createdAtMs, allowsClamp: false },
      ...{
        name: `${index % 2 ? "Odd" : "even"} 100%_${index}`,
        hint: `sk-tg-${index}`,
        digest: `${id}${index}`,
      },
      expiresAtMs: index < 3 ? createdAtMs : null,
      revokedAtMs: index > 20 ? createdAtMs : null,
    }));
    await db.insert(tables.apiKeys).values(rows);
    const { id: other } = await console.newAccount();
    await db
      .insert(tables.apiKeys)
      .values({ ...rows[0], id: "other", accountId: other, digest: other } as never);
  });

  const list = async (query: string) => {
    const { status, json } = await console.call(owner, "GET", `${root}${query}`);
    return { status, names: json.items?.map(({ id }: { id: string }) => id), next: json.next };
  };
  const allPages = async (query: string) => {
    const found: string[][] = [];
    let page = "";
    do {
      const { names, next } = await list(`?${query}${page}`);
      found.push(names);
      page = next === null ? "" : `&page=${encodeURIComponent(next)}`;
    } while (page !== "" && found.length < 20);
    return found;
  };

  test("names every key in a quarter of the bytes for choices, with its state and its spending limit", async () => {
    const { ledger } = console.parts;
    const walletId = root.split("/")[2] ?? "";
    await ledger.setSpendLimit({
      walletId,
      limitId: "key-05",
      keyId: "key-05",
      period: "day",
      amount: 5_000_000_000n,
    });
    const whole = (await console.call(owner, "GET", root)).json;
    const names = (await console.call(owner, "GET", `${root.replace(/keys$/, "key-names")}`)).json;
    const pick = ({ id, name, state, spending_limit }: Record<string, unknown>) => [
      id,
      name,
      state,
      spending_limit,
    ];
    expect(names.items.map(pick)).toEqual(whole.items.map(pick));
    expect(names.items[5].spending_limit.amount_usd).toBe("5.00");
    expect(JSON.stringify(names).length * 4).toBeLessThan(JSON.stringify(whole).length);
  });

  test("comes in pages that hold each key once, and whole without a size", async () => {
    const whole = await list("");
    expect(whole.names).toHaveLength(25);
    expect(whole.next).toBeNull();
    const pages = await allPages("size=10");
    expect(pages.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toEqual(whole.names);
  });

  test("is found by name, hint and state on the server, and a page ends at its size", async () => {
    expect((await list("?q=ODD")).names).toHaveLength(12);
    expect((await list("?q=sk-tg-7")).names).toEqual(["key-07"]);
    expect((await list("?q=0%25_1&size=200")).names).toHaveLength(11);
    expect((await list("?q=%25%25")).names).toEqual([]);
    expect((await list("?state=expired")).names).toEqual(["key-00", "key-01", "key-02"]);
    expect((await list("?state=revoked")).names).toHaveLength(4);
    expect((await allPages("state=active&size=9")).map(({ length }) => length)).toEqual([9, 9]);
  });

  test.each(["?page=x", "?page=1.%27%20OR%201", "?size=0", "?size=201", "?state=lost"])(
    "refuses %s with 422",
    async (query) => expect((await list(query)).status).toBe(422),
  );
});
