import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { startChromium, type WatchedPage } from "../support/chromium.ts";
import { furnish } from "./world/furnish.ts";
import { openPageAs, type PageOptions, settled } from "./world/open-page.ts";
import { type ListedPage, listPages } from "./world/page-list.ts";
import { startWorld, type World } from "./world/world.ts";

const LOOKS: readonly PageOptions[] = [
  { theme: "light", width: 1280, height: 900 },
  { theme: "dark", width: 390, height: 844 },
];

/** Pages with a dialog, and the name of the button or link that opens it. */
const DIALOGS: Readonly<Record<string, RegExp>> = {
  keys: /^Create key$/,
  key: /^Edit$/,
  wallet: /^Top up/,
};

let world: World;
let browser: Browser;
let pages: readonly ListedPage[];
beforeAll(async () => {
  [world, browser] = await Promise.all([startWorld({ days: 2, perDay: 20 }), startChromium()]);
  pages = listPages(world, await furnish(world));
});
afterAll(async () => {
  await browser.close();
  await world.close();
});

describe.each(LOOKS)("in $theme at $width px", (look) => {
  test.each(["visitor", "owner", "operator"] as const)(
    "every page of the %s has a heading, fits its width and has no fault",
    async (viewer) => {
      const person = { owner: world.owner, operator: world.operator, visitor: undefined }[viewer];
      const found: string[] = [];
      const start = { url: world.url, path: "/console/sign-in", person };
      const watched = await openPageAs(browser, start, look);
      for (const each of pages.filter((page) => page.viewer === viewer)) {
        await watched.page.goto(`${world.url}${each.path}`);
        await settled(watched);
        const faults = [...(await inspect(watched)), ...(await inspectDialog(watched, each.name))];
        found.push(...faults.map((fault) => `${each.name}: ${fault}`));
      }
      expect([...found, ...watched.faults]).toEqual([]);
      await watched.close();
    },
  );
});

/** Returns what is wrong with the page that is open, one line each. */
async function inspect({ page }: WatchedPage): Promise<readonly string[]> {
  const shape = await page.evaluate(() => ({
    title: document.title,
    headings: document.querySelectorAll("h1").length,
    isTooWide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  }));
  return [
    ...(shape.title.includes("Tollgate") ? [] : [`its title is "${shape.title}"`]),
    ...(shape.headings === 1 ? [] : [`it has ${shape.headings} main headings`]),
    ...(shape.isTooWide ? ["it scrolls sideways"] : []),
    ...(await findAccessibilityFaults(page)),
  ];
}

/** Opens the dialog of a page, inspects it, and checks that Escape gives the focus back. */
async function inspectDialog(watched: WatchedPage, name: string): Promise<readonly string[]> {
  const { page } = watched;
  const opensBy = DIALOGS[name];
  if (!opensBy) return [];
  const opener = page.getByRole("main").getByRole("button", { name: opensBy }).first();
  await opener.click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  const faults = await inspect(watched);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  const hasFocus = await opener.evaluate((element) => element === document.activeElement);
  return [
    ...faults.map((fault) => `dialog: ${fault}`),
    ...(hasFocus ? [] : ["the focus is lost when the dialog closes"]),
  ];
}
