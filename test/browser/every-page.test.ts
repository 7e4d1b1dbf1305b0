import { beforeAll, describe, expect, test } from "bun:test";
import { LABELS, labelsOf, openPictured, picturedPaths } from "../readme/pictures.ts";
import { findAccessibilityFaults } from "../support/axe.ts";
import type { WatchedPage } from "../support/chromium.ts";
import { furnish } from "./world/furnish.ts";
import { followPath, openPageAs, type PageOptions } from "./world/open-page.ts";
import { type ListedPage, listPages } from "./world/page-list.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const LOOKS: readonly PageOptions[] = [
  { theme: "light", width: 1280, height: 900 },
  { theme: "dark", width: 390, height: 844 },
];

const { world, browser } = worldForTests({ days: 2, perDay: 20 });
let pages: readonly ListedPage[];
/** Labels of the README's pages, before refusals show above them. */
const labels: Record<string, readonly string[]> = {};
beforeAll(async () => {
  for (const [name, path] of Object.entries(await picturedPaths(world))) {
    const { page, close } = await openPictured(browser, world, path, "light");
    labels[name] = await labelsOf(page);
    await close();
  }
  pages = listPages(world, await furnish(world));
});

test("the README's pictures have the headings and labels of today; if not: bun run readme", async () => {
  expect(labels).toEqual(await Bun.file(LABELS).json());
});

describe.each(LOOKS)("in $theme at $width px", (look) => {
  test.each(["visitor", "owner", "operator"] as const)(
    "every page of the %s has a heading, fits its width and has no fault",
    async (viewer) => {
      const person = { owner: world.owner, operator: world.operator, visitor: undefined }[viewer];
      const found: string[] = [];
      const start = { url: world.url, path: "/console/sign-in", person };
      const watched = await openPageAs(browser, start, look);
      for (const each of pages.filter((page) => page.viewer === viewer && lookOf(page) === look)) {
        await followPath(watched, each.path);
        const faults = await (each.open ? inspectDialog(watched, each.open) : inspect(watched));
        found.push(...faults.map((fault) => `${each.name}: ${fault}`));
      }
      expect([...found, ...watched.faults]).toEqual([]);
      await watched.close();
    },
  );
});

/** Dialogs are inspected where they have the least room, and pages by turns. `bun run screens` inspects all in all looks. */
function lookOf(page: ListedPage): PageOptions | undefined {
  return page.open ? LOOKS.at(-1) : LOOKS[pages.indexOf(page) % LOOKS.length];
}

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

/** Opens a dialog, inspects it, and checks that Escape gives the focus back to where it was. */
async function inspectDialog(
  watched: WatchedPage,
  open: NonNullable<ListedPage["open"]>,
): Promise<readonly string[]> {
  const { page } = watched;
  await open(page);
  const faults = await inspect(watched);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // Without a place of its own the focus falls back to the body. It returns a little after the dialog is gone.
  const isKept = await page
    .waitForFunction(() => document.activeElement !== document.body)
    .then(
      () => true,
      () => false,
    );
  return isKept ? faults : [...faults, "the focus is lost when the dialog closes"];
}
