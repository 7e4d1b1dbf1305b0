// bun run readme   writes the README's pictures of the console and its recording of a terminal into docs/pictures
import { mkdirSync } from "node:fs";
import { startWorld } from "../browser/world/world.ts";
import { startChromium } from "../support/chromium.ts";
import { recordFirstMinute, wordsOf } from "./first-minute.ts";
import { LABELS, labelsOf, openPictured, PICTURES, picturedPaths, THEMES } from "./pictures.ts";
import { drawTerminal } from "./terminal-svg.ts";

mkdirSync(PICTURES, { recursive: true });
const steps = await recordFirstMinute();
await Bun.write(`${PICTURES}/first-minute.svg`, drawTerminal(steps));
await Bun.write(`${PICTURES}/first-minute.txt`, `${wordsOf(steps)}\n`);
await takePictures();
process.exit(0);

async function takePictures(): Promise<void> {
  const world = await startWorld({ days: 35, perDay: 300 });
  const browser = await startChromium();
  const labels: Record<string, readonly string[]> = {};
  for (const [name, path] of Object.entries(await picturedPaths(world))) {
    for (const theme of THEMES) {
      const watched = await openPictured(browser, world, path, theme);
      labels[name] = await labelsOf(watched.page);
      await watched.page.screenshot({ path: `${PICTURES}/${name}-${theme}.png` });
      await watched.close();
    }
  }
  await Bun.write(LABELS, `${JSON.stringify(labels, undefined, 2)}\n`);
  await browser.close();
  await world.close();
}
