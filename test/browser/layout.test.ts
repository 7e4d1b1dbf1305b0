import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startChromium } from "../support/chromium.ts";
import { browse } from "./world/open-page.ts";
import { startWorld, type World } from "./world/world.ts";

let world: World;
let browser: Browser;
beforeAll(async () => {
  [world, browser] = await Promise.all([startWorld({ days: 1, perDay: 30 }), startChromium()]);
});
afterAll(async () => {
  await browser.close();
  await world.close();
});

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
}, 300_000);

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
}, 300_000);
