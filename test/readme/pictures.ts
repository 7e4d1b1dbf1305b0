import type { Browser, Page } from "playwright-core";
import { openPageAs } from "../browser/world/open-page.ts";
import type { World } from "../browser/world/world.ts";

/** Where the README's pictures are kept, from the root of the project. */
export const PICTURES = "docs/pictures";
/** The labels that the pages had when they were pictured, by the name of the page. */
export const LABELS = `${PICTURES}/labels.json`;
export const THEMES = ["light", "dark"] as const;
type Theme = (typeof THEMES)[number];

const SIZE = { width: 1200, height: 780 };

/** Returns the paths of the pictured pages, by their names: an account without refusals, and a receipt of it. */
export async function picturedPaths({ acme, owner }: World): Promise<Readonly<Record<string, string>>> {
  const account = `/accounts/${acme.accountId}`;
  const { items } = await owner.call("GET", `${account}/requests?model=gpt-4.1-mini&outcome=ok&size=20`);
  for (const { id } of items) {
    const { metadata } = await owner.call("GET", `${account}/requests/${id}`);
    // Some requests of the drawn history have metadata, which are labels more.
    if (metadata === null)
      return { console: `/console${account}`, receipt: `/console${account}/requests/${id}` };
  }
  throw new Error("Every request of the history has metadata");
}

/** Opens a page as its owner sees it, in the size of the pictures. */
export function openPictured(browser: Browser, { url, owner }: World, path: string, theme: Theme) {
  return openPageAs(browser, { url, path, person: owner }, { ...SIZE, theme });
}

/** Returns the headings, labels and buttons of a page, without those of rows. Its picture is out of date when one of them has changed. */
export async function labelsOf(page: Page): Promise<readonly string[]> {
  const texts = await page.locator("main").locator("h1, h2, h3, thead th, dt, label, button").allInnerTexts();
  const labels = texts.map((text) => text.trim().replaceAll(/\d[\d.,:]*/g, "0"));
  return [...new Set(labels)].filter((text) => text !== "");
}
