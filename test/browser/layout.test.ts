import { expect, test } from "bun:test";
import type { WatchedPage } from "../support/chromium.ts";
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

const WIDTHS = [390, 640, 768, 1024, 1440, 1920];

test.each(["", "/keys", "/models", "/usage", "/wallet", "/team", "/notices", "/audit-trail"])(
  "no word, name or address is torn and no page scrolls sideways on %p, at any width",
  async (path) => {
    for (const width of WIDTHS) {
      const watched = await pageOf(width);
      await followPath(watched, `/console/accounts/${world.acme.accountId}${path}`);
      expect([width, await watched.page.evaluate(findTornWords)]).toEqual([width, []]);
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

/** Runs in the page. The words whose characters stand on two lines; one may break after a hyphen or a slash. */
function findTornWords(): readonly string[] {
  const torn: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const { 0: word, index } of (node.textContent ?? "").matchAll(/[^\s\-–/?]{2,}/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = [...range.getClientRects()].filter((rect) => rect.width > 0);
      if (new Set(lines.map(({ top }) => Math.round(top / 6))).size > 1) torn.push(word);
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
    { width: 1024 },
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
