import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { startChromium } from "../support/chromium.ts";
import { openPageAs, settled } from "./world/open-page.ts";
import { startWorld, type World } from "./world/world.ts";

let world: World;
let browser: Browser;
beforeAll(async () => {
  [world, browser] = await Promise.all([startWorld(), startChromium()]);
});
afterAll(async () => {
  await browser.close();
  await world.close();
});

test("a row of the table narrows usage to its model, and the URL keeps the view", async () => {
  const { url, acme, owner } = world;
  const path = `/console/accounts/${acme.accountId}/usage?range=7d`;
  const watched = await openPageAs(browser, { url, path, person: owner }, { width: 390 });
  const { page } = watched;
  await page.getByRole("link", { name: "claude-sonnet" }).click();
  await page.waitForURL(/model=claude-sonnet.*group=upstream|group=upstream.*model=claude-sonnet/);
  await page.getByRole("heading", { name: "By upstream" }).waitFor();
  await settled(watched);
  await page.reload();
  await page.getByRole("heading", { name: "By upstream" }).waitFor();
  await settled(watched);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  expect(await findAccessibilityFaults(page)).toEqual([]);
  expect(watched.faults).toEqual([]);
  await watched.close();
}, 300_000);

test("filters that exclude every request tell how many there are without them", async () => {
  const { url, acme, owner } = world;
  const path = `/console/accounts/${acme.accountId}/requests?upstream=unknown`;
  const watched = await openPageAs(browser, { url, path, person: owner });
  await watched.page.getByText(/Without them there are [1-9]/).waitFor();
  await watched.page.getByRole("button", { name: "Clear the filters" }).click();
  await watched.page.getByRole("cell", { name: "claude-sonnet" }).first().waitFor();
  expect(watched.faults).toEqual([]);
  await watched.close();
}, 300_000);
