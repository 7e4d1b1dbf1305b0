import { describe, expect, test } from "bun:test";
import { ACCOUNT_ORDERS } from "../../src/accounts/account-list.ts";
import { KEY_ORDERS } from "../../src/accounts/keys/key-list.ts";
import { PEOPLE_ORDERS } from "../../src/accounts/people/directory.ts";
import { pageRanked, readListOrder } from "../../src/accounts/ranked-page.ts";
import { readSort, searchRows, sortRows } from "../../src/console/parts/list-table.tsx";
import { keysPageQuery } from "../../src/console/queries/keys.ts";
import { accountsQuery, codesQuery, peopleQuery } from "../../src/console/queries/operator.ts";
import { requestsQuery } from "../../src/console/queries/requests.ts";
import { subscriptionsQuery } from "../../src/console/queries/subscriptions.ts";
import { creditsQuery } from "../../src/console/queries/wallet.ts";
import { CODE_ORDERS } from "../../src/payments/code-list.ts";
import { CREDIT_ORDERS } from "../../src/payments/find-credits.ts";
import { SUBSCRIPTION_ORDERS } from "../../src/plans/reads.ts";

const ROWS = [
  { name: "b10", used: "2026-11-02", spent: 3n },
  { name: "B9", used: null, spent: 20n },
  { name: "a", used: "2026-11-01", spent: 3n },
];
const COLUMNS = [
  { id: "name", order: ({ name }: (typeof ROWS)[number]) => name },
  { id: "used", order: ({ used }: (typeof ROWS)[number]) => used },
  { id: "spent", order: ({ spent }: (typeof ROWS)[number]) => spent },
  { id: "server", order: "server" as const },
];

describe("a list in the browser", () => {
  test.each([
    ["name", false, ["a", "B9", "b10"]],
    ["used", false, ["a", "b10", "B9"]],
    ["used", true, ["b10", "a", "B9"]],
    ["spent", true, ["B9", "b10", "a"]],
    ["server", true, ["b10", "B9", "a"]],
    ["unknown", true, ["b10", "B9", "a"]],
  ])(
    "by %s, descending %p: rows without a value come last, and equal rows keep their order",
    (id, isDescending, names) => {
      expect(sortRows(ROWS, COLUMNS, { id, isDescending }).map(({ name }) => name)).toEqual(names);
    },
  );

  test.each([
    ["-spent", undefined, { id: "spent", isDescending: true }],
    ["groups.-first_p95", "groups", { id: "first_p95", isDescending: true }],
    ["groups.cost", "keys", undefined],
    ["groups.", "groups", undefined],
  ])("the order %p of the URL is, for the list %p, %p", (sort, name, order) =>
    expect(readSort(sort, name)).toEqual(order),
  );

  test("a search finds rows with every word in any of their texts", () => {
    const find = (text: string) => searchRows(ROWS, ({ name, used }) => [name, used], text).length;
    expect([find(""), find("b"), find("b 2026"), find("zzz")]).toEqual([3, 2, 1, 0]);
  });
});

describe("a list that the server orders", () => {
  const orderOf = ({ queryKey }: { readonly queryKey: readonly unknown[] }) =>
    (queryKey.at(-1) as { readonly sort?: string }).sort;
  const lists = [
    ["keys", KEY_ORDERS, (sort: string) => keysPageQuery("a", { sort })],
    ["credits", CREDIT_ORDERS, (sort: string) => creditsQuery("a", { sort })],
    ["accounts", ACCOUNT_ORDERS, (sort: string) => accountsQuery({ sort })],
    ["people", PEOPLE_ORDERS, (sort: string) => peopleQuery({ sort })],
    ["codes", CODE_ORDERS, (sort: string) => codesQuery({ sort })],
    ["subscriptions", SUBSCRIPTION_ORDERS, (sort: string) => subscriptionsQuery({ sort })],
  ] as const;

  test.each(lists)(
    "asks for the %s by every order of the server, and by no other of the URL",
    (_, all, ask) => {
      const known = all.flatMap((name) => [name, `-${name}`]);
      expect(known.map((sort) => orderOf(ask(sort)))).toEqual(known);
      for (const sort of ["nonsense", "--name", "-", "", "list.name", "__proto__"]) {
        expect(orderOf(ask(sort))).toBeUndefined();
      }
    },
  );

  test("asks for no requests of an unknown state or order", () => {
    const ask = (search: object) => requestsQuery("a", search).queryKey.at(-1);
    expect(ask({ state: "nonsense", sort: "nonsense" })).toEqual({});
    expect(ask({ state: "held", sort: "-charged" })).toEqual({ state: "held", sort: "-charged" });
  });
});

describe("a ranked list of the server", () => {
  const all = [
    { id: "3", value: 5n },
    { id: "1", value: 5n },
    { id: "2", value: -7n },
    { id: "4", value: 900n },
  ];
  const pagesOf = (isDescending: boolean) => {
    const pages: (readonly string[])[] = [];
    let token: string | undefined;
    do {
      const page = pageRanked(all, { order: { by: "spent", isDescending }, token, size: 3 });
      pages.push(page.ids);
      token = page.next ?? undefined;
    } while (token !== undefined);
    return pages;
  };

  test("has every item once over its pages, in either order", () => {
    expect(pagesOf(false)).toEqual([["2", "1", "3"], ["4"]]);
    expect(pagesOf(true)).toEqual([["4", "1", "3"], ["2"]]);
  });

  test("has each other item once where the last one of a page moves or is gone meanwhile", () => {
    const order = { by: "spent", isDescending: true };
    const first = pageRanked(all, { order, token: undefined, size: 2 });
    expect(first.ids).toEqual(["4", "1"]);
    const rest = (changed: typeof all) =>
      pageRanked(changed, { order, token: first.next ?? "", size: 9 }).ids;
    const without = all.filter(({ id }) => id !== "1");
    expect(rest(without)).toEqual(["3", "2"]);
    expect(rest([...without, { id: "1", value: 9_000n }])).toEqual(["3", "2"]);
  });

  test("refuses a token and an order that are none", () => {
    const order = { by: "spent", isDescending: false };
    const { next } = pageRanked(all, { order, token: undefined, size: 3 });
    const forged = Buffer.from(JSON.stringify(["spent", "1e9", "1"])).toString("base64url");
    for (const token of ["9", "", forged]) {
      expect(() => pageRanked(all, { order, token, size: 3 })).toThrow("wrong_shape");
    }
    for (const other of [
      undefined,
      { by: "spent", isDescending: true },
      { by: "name", isDescending: false },
    ]) {
      expect(() => pageRanked(all, { order: other, token: next ?? "", size: 3 })).toThrow("wrong_shape");
    }
    expect(() => readListOrder("-password", ["name"])).toThrow("wrong_shape");
    expect(readListOrder("-name", ["name"])).toEqual({ by: "name", isDescending: true });
    expect(readListOrder(undefined, ["name"])).toBeUndefined();
  });
});
