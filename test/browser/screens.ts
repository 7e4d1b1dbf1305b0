// bun run screens [NAME…]   writes pictures of every page of the console, or of the named ones, in both themes
//                           and five widths, into reports/screens, with an index.html to look through them.
import { mkdirSync, rmSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { startChromium } from "../support/chromium.ts";
import { furnish } from "./world/furnish.ts";
import { openPageAs } from "./world/open-page.ts";
import { type ListedPage, listPages } from "./world/page-list.ts";
import { startWorld, type World } from "./world/world.ts";

const FOLDER = "reports/screens";
const WIDTHS = [390, 768, 1024, 1440, 1920] as const;
const THEMES = ["light", "dark"] as const;

interface Picture {
  readonly page: string;
  readonly file: string;
  readonly faults: readonly string[];
}

const wanted = Bun.argv.slice(2);
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
console.log("Writing the history of a furnished world …");
const world = await startWorld({ days: 35, perDay: 300 });
const browser = await startChromium();
const pages = listPages(world, await furnish(world)).filter(
  ({ name }) => wanted.length === 0 || wanted.includes(name),
);
const pictures: Picture[] = [];
for (const page of pages) pictures.push(...(await takePictures(browser, world, page)));
await Bun.write(`${FOLDER}/index.html`, printIndex(pictures));
await browser.close();
await world.close();
const faulty = pictures.filter(({ faults }) => faults.length > 0);
for (const { file, faults } of faulty) console.log(`${file}: ${faults.join("; ")}`);
console.log(`${pictures.length} pictures in ${FOLDER}/index.html, ${faulty.length} with faults`);
process.exit(faulty.length > 0 ? 1 : 0);

async function takePictures(
  opened: Browser,
  { url, owner, operator }: World,
  { name, path, viewer, open }: ListedPage,
): Promise<readonly Picture[]> {
  const person = { owner, operator, visitor: undefined }[viewer];
  const taken: Picture[] = [];
  for (const width of WIDTHS) {
    for (const theme of THEMES) {
      const file = `${name}-${width}-${theme}.png`;
      const options = { width, height: width > 600 ? 900 : 844, theme };
      const watched = await openPageAs(opened, { url, path, person }, options);
      // A picture beyond the window lacks bars of charts one time in four: the window becomes as high as the page.
      if (open) await open(watched.page);
      else await watched.page.setViewportSize({ width, height: await heightOf(watched.page) });
      await watched.page.screenshot({ path: `${FOLDER}/${file}` });
      const isTooWide = await watched.page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      );
      const faults = [
        ...watched.faults,
        ...(isTooWide ? ["the page scrolls sideways"] : []),
        ...(await findAccessibilityFaults(watched.page)),
      ];
      taken.push({ page: name, file, faults });
      await watched.close();
    }
  }
  console.log(name);
  return taken;
}

function heightOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollHeight);
}

function printIndex(all: readonly Picture[]): string {
  const figures = all.map(
    ({ file, faults }) =>
      `<figure><a href="${file}"><img src="${file}" alt="${file}" loading="lazy"></a><figcaption>${file} ${faults.length > 0 ? "⚠" : ""}</figcaption></figure>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Screens of the console</title>
<style>body{display:flex;flex-wrap:wrap;gap:16px;font:14px sans-serif}img{max-height:360px;border:1px solid #999}</style>
${figures.join("\n")}
</html>
`;
}
