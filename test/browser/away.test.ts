import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startChromium } from "../support/chromium.ts";
import { openPageAs } from "./world/open-page.ts";
import { startWorld, type World } from "./world/world.ts";

let world: World;
let browser: Browser;
beforeAll(async () => {
  [world, browser] = await Promise.all([startWorld({ days: 2, perDay: 10 }), startChromium()]);
});
afterAll(async () => {
  await browser.close();
  await world.close();
});

test("a click while the gateway is away keeps the console, says so, and shows the page when it is back", async () => {
  const path = `/console/accounts/${world.acme.accountId}/wallet`;
  const { page, context, close } = await openPageAs(browser, { url: world.url, path, person: world.owner });
  // As for a gateway that has stopped: every connection is refused, the page's own document included.
  await context.route("**/*", (route) => route.abort("connectionrefused"));
  await page.getByRole("link", { name: "Refusals" }).click();
  const strip = page.getByText("The gateway cannot be reached. Figures are of");
  await strip.waitFor();
  expect(await page.getByRole("navigation").first().isVisible()).toBe(true);
  await context.unroute("**/*");
  await page.getByRole("heading", { name: "Refusals", level: 1 }).waitFor();
  await strip.waitFor({ state: "detached" });
  await close();
});
