import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { untilTitled } from "./world/forms.ts";
import { openNewPageAs } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

/** Of the page, its styles and its scripts, gzipped; the answers of the API are not part of it. */
const FIRST_VIEW_BYTES_MAX = 156_000;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const { world, browser } = worldForTests({ days: 2, perDay: 20 });

/** Uses a page whose process has loaded nothing but the sign-in. Fails on its faults. */
async function visit(use: (page: Page) => Promise<void>): Promise<void> {
  const { page, faults, close } = await openSignIn();
  await use(page);
  expect(faults).toEqual([]);
  await close();
}

const openSignIn = () =>
  openNewPageAs(browser, { url: world.url, path: "/console/sign-in", person: world.owner });

/** Opens the overview with its chart and returns the paths of what was loaded for it, without the API's. */
async function openOverview(page: Page): Promise<readonly string[]> {
  const loaded = new Set<string>();
  page.on("response", (answer) => void loaded.add(new URL(answer.url()).pathname));
  await page.goto(`${world.url}/console/accounts/${world.acme.accountId}`);
  await page.getByRole("img", { name: /Cost by day/ }).waitFor();
  return [...loaded].filter((path) => !path.startsWith("/console/api/") && path.startsWith("/console"));
}

async function gzippedBytesOf(path: string): Promise<number> {
  const answer = await fetch(`${world.url}${path}`, { headers: { "accept-encoding": "gzip" } });
  return Bun.gzipSync(await answer.bytes(), { level: 9 }).byteLength;
}

test("the overview with its chart loads less than 156 KB gzipped", async () => {
  await visit(async (page) => {
    const sizes = await Promise.all((await openOverview(page)).map(gzippedBytesOf));
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(FIRST_VIEW_BYTES_MAX);
  });
});

test("assets are kept for ever, the page is not kept, and both carry the policy", async () => {
  await visit(async (page) => {
    for (const path of await openOverview(page)) {
      const { headers } = await fetch(`${world.url}${path}`);
      const isAsset = path.startsWith("/console/assets/");
      const kept = isAsset ? "public, max-age=31536000, immutable" : "no-store";
      expect([path, headers.get("cache-control")]).toEqual([path, kept]);
      expect([path, headers.get("content-security-policy")]).toEqual([path, POLICY]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });
});

test("a tab of an earlier build, whose chunk is gone, reloads once and shows the page", async () => {
  await withoutChunks(1, async (page, loads) => {
    await untilTitled(page, "Team");
    expect(loads()).toBe(1);
  });
});

test("a chunk that stays away is said to be an error, and the tab does not reload for ever", async () => {
  await withoutChunks(Number.POSITIVE_INFINITY, async (page, loads) => {
    await page.getByRole("alert").waitFor();
    expect(loads()).toBe(1);
  });
});

/** Opens a page whose chunk is missing the first `times`. The browser's own report of it is the only fault. */
async function withoutChunks(
  times: number,
  use: (page: Page, loads: () => number) => Promise<void>,
): Promise<void> {
  const { page, faults, close } = await openSignIn();
  await openOverview(page);
  let missing = times;
  let loads = 0;
  page.on("request", (request) => void (request.isNavigationRequest() && loads++));
  await page.route(/\/console\/assets\/team-page-/, (route) =>
    missing-- > 0 ? route.fulfill({ status: 404, body: "" }) : route.continue(),
  );
  await page.getByRole("link", { name: "Team", exact: true }).click();
  await use(page, () => loads);
  expect(faults.filter((fault) => !fault.includes("dynamically imported module"))).toEqual([]);
  await close();
}
