import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { WatchedPage } from "../support/chromium.ts";
import { furnishProjects } from "./world/furnish-projects.ts";
import { browse, followPath, openPageAs } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 1, perDay: 30 });

test("every page of the navigation is above the fold of 900 pixels, also for an operator", async () => {
  const visit = { url: world.url, path: "/console/operator/health", person: world.operator };
  await browse(browser, visit, async (page) => {
    const hidden = await page
      .getByRole("navigation")
      .first()
      .evaluate((nav) => {
        const lists = [nav, ...nav.querySelectorAll("*")];
        return Math.max(...lists.map(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight));
      });
    expect(hidden).toBeLessThan(20);
  });
});

/** `bun run layout` looks at more. */
const isWhole = process.env.TEST_LAYOUT === "all";
const WIDTHS = isWhole ? [390, 640, 768, 1024, 1440, 1920] : [390, 768, 1440];
const TABLE_WIDTHS = isWhole ? [768, 1024, 1280] : [768, 1280];

test.each(["", "/keys", "/models", "/usage", "/wallet", "/team", "/notices", "/audit-trail"])(
  "no word, name or address is torn and no page scrolls sideways on %p, at any width",
  async (path) => {
    for (const width of WIDTHS) {
      const watched = await pageOf(width);
      await followPath(watched, `/console/accounts/${world.acme.accountId}${path}`);
      expect([width, await watched.page.evaluate(findTorn, WORDS)]).toEqual([width, []]);
      expect(await watched.page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(watched.faults).toEqual([]);
    }
  },
);

const pages = new Map<number, WatchedPage>();

/** The page of a width, which is opened once and shows one path after the other. */
async function pageOf(width: number): Promise<WatchedPage> {
  const visit = { url: world.url, path: "/console/profile", person: world.owner };
  const page = pages.get(width) ?? (await openPageAs(browser, visit, { width, height: 900 }));
  pages.set(width, page);
  return page;
}

interface Wanted {
  /** Elements whose texts are looked at. */
  readonly within: string;
  /** The pattern of what has one line. */
  readonly word: string;
}

/** A line may end after a hyphen or a slash. */
const WORDS: Wanted = { within: "body", word: "[^\\s\\-–/?]{2,}" };
/** Names that a column has room for, hyphens included. */
const NAMES: Wanted = { within: "td", word: "(?<!\\S)[^\\s/]{2,28}(?!\\S)" };
const ADDRESSES: Wanted = { within: "[role=dialog]", word: "\\S+@\\S+" };
const IDS: Wanted = { within: "td small", word: "[0-9a-f-]{36}" };

/** Runs in the page. The wanted words whose characters stand on two lines. */
function findTorn({ within, word }: Wanted): readonly string[] {
  const torn: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement?.closest(within)) continue;
    for (const { 0: found, index } of (node.textContent ?? "").matchAll(new RegExp(word, "g"))) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      const lines = [...range.getClientRects()].filter((rect) => rect.width > 0);
      if (new Set(lines.map(({ top }) => Math.round(top / 6))).size > 1) torn.push(found);
    }
  }
  return torn;
}

test("a table that is wider than the window names the columns out of sight, until they are scrolled to", async () => {
  const path = `/console/accounts/${world.acme.accountId}/requests`;
  const visit = { url: world.url, path, person: world.owner };
  await browse(
    browser,
    visit,
    async (page) => {
      const hint = page.getByText(/^Scroll for .*Charge →$/);
      await hint.waitFor();
      await page.getByRole("group", { name: "Requests" }).evaluate((region) => region.scrollTo(2_000, 0));
      await hint.waitFor({ state: "detached" });
    },
    { width: 650 },
  );
});

/** The tables in sight that are wider than their place. */
const findWide = (page: Page) =>
  page
    .getByRole("group")
    .evaluateAll((regions) =>
      regions
        .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
        .map((region) => region.getAttribute("aria-label")),
    );

test.each(["", "/requests", "/refusals", "/usage", "/usage?group=end_user", "/keys", "/audit-trail"])(
  "no table of %p is scrolled sideways, nor a name in it torn, from 768 px on",
  async (path) => {
    refused ??= furnishProjects(world);
    await refused;
    for (const width of TABLE_WIDTHS) {
      const watched = await pageOf(width);
      await followPath(watched, `/console/accounts/${world.acme.accountId}${path}`);
      expect([width, await findWide(watched.page)]).toEqual([width, []]);
      expect([width, await watched.page.evaluate(findTorn, NAMES)]).toEqual([width, []]);
    }
  },
);

/** Refusals and end users, for tables that would be empty without. */
let refused: Promise<unknown> | undefined;

test("the id of an account has one line for operators, also on a tablet", async () => {
  const visit = { url: world.url, path: "/console/operator/accounts", person: world.operator };
  await browse(
    browser,
    visit,
    async (page) => {
      await page.getByText(world.northwind.accountId).waitFor();
      expect(await page.evaluate(findTorn, IDS)).toEqual([]);
      expect(await findWide(page)).toEqual([]);
    },
    { width: 768 },
  );
});

test("both versions of a conflict show from their beginning on a phone, with whole addresses", async () => {
  const at = `/accounts/${world.acme.accountId}`;
  const visit = { url: world.url, path: `/console${at}/settings`, person: world.owner };
  await browse(
    browser,
    visit,
    async (page) => {
      await page.getByLabel("E-mail").fill("invoices.of.research@customer.example");
      const { version } = await world.owner.call("GET", at);
      await world.owner.call("PATCH", at, { version, email: "accounts.payable@customer.example" });
      await page.getByRole("button", { name: "Save" }).click();
      const dialog = page.getByRole("dialog", { name: /Somebody else saved/ });
      await dialog.getByText("accounts.payable@customer.example").waitFor();
      expect(await page.evaluate(findTorn, ADDRESSES)).toEqual([]);
      const parts = await dialog.locator("*").all();
      const scrolled = await Promise.all(parts.map((part) => part.evaluate(({ scrollTop }) => scrollTop)));
      expect(Math.max(...scrolled)).toBe(0);
    },
    { width: 390, height: 400 },
  );
});

test("the numbers of a receipt break on no phone", async () => {
  const at = `/accounts/${world.acme.accountId}`;
  const [{ id }] = (await world.owner.call("GET", `${at}/requests?outcome=ok&size=1`)).items;
  const visit = { url: world.url, path: `/console${at}/requests/${id}`, person: world.owner };
  await browse(
    browser,
    visit,
    async (page) => {
      const table = page.getByRole("table", { name: "Tokens × price = charge" });
      await table.waitFor();
      const lines = await table.locator("td").evaluateAll((cells) =>
        cells.map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return new Set([...range.getClientRects()].map(({ top }) => Math.round(top / 8))).size;
        }),
      );
      expect(Math.max(...lines)).toBe(1);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    },
    { width: 390 },
  );
});
