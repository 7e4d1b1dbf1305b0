import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { parseUsd } from "../../src/domain/money.ts";
import { findAccessibilityFaults } from "../support/axe.ts";
import { gate } from "../support/script.ts";
import { browse, finish, openPageAs, settled } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 9, perDay: 20 });

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
  await finish(watched);
});

test("a range has one sum on overview, key page and usage, also where midnight is not that of UTC", async () => {
  const { url, acme, owner } = world;
  const at = `/console/accounts/${acme.accountId}`;
  const [key = ""] = acme.keyIds;
  const read = async (path: string, locate: (page: Page) => Locator) => {
    const visit = { url, path: `${at}${path}`, person: owner };
    return browse(browser, visit, async (page) => locate(page).first().getAttribute("data-nanos"), {
      timeZone: "America/Los_Angeles",
    });
  };
  const chart = (page: Page) => page.getByText(/ for [\d,]+ requests?$/).locator("[data-nanos]");
  const cost = (page: Page) =>
    page.getByRole("region", { name: "Cost and requests" }).locator("[data-nanos]");
  const sums = [
    await read("?range=7d", chart),
    await read("/usage?range=7d", cost),
    await read("/usage?range=7d&by=hour", cost),
  ];
  expect(new Set(sums).size).toBe(1);
  const ofKey = [
    await read(`/keys/${key}?range=7d`, chart),
    await read(`/usage?range=7d&key=${key}`, cost),
    await read(`/usage?range=7d&by=hour&key=${key}`, cost),
  ];
  expect(new Set(ofKey).size).toBe(1);
  expect(BigInt(ofKey[0] ?? 0)).toBeGreaterThan(0n);
});

test("filters that exclude every request tell how many there are without them", async () => {
  const { url, acme, owner } = world;
  const path = `/console/accounts/${acme.accountId}/requests?upstream=unknown`;
  const watched = await openPageAs(browser, { url, path, person: owner });
  await watched.page.getByText(/Without them there are [1-9]/).waitFor();
  await watched.page.getByRole("button", { name: "Clear the filters" }).click();
  await watched.page.getByRole("cell", { name: "claude-sonnet" }).first().waitFor();
  await finish(watched);
});

test("the CSV of a view sums up to its table, and the view survives a reload and the way back", async () => {
  const { url, acme, owner } = world;
  const path = `/console/accounts/${acme.accountId}/usage?range=7d`;
  const watched = await openPageAs(browser, { url, path, person: owner });
  const { page } = watched;
  const { opened, open } = gate();
  await page.route(/\/usage\?.*group=key/, async (route) => {
    await opened;
    await route.continue();
  });
  await page.getByRole("combobox", { name: "Divide by" }).click();
  await page.getByRole("option", { name: "key", exact: true }).click();
  await page.waitForURL(/group=key/);
  // Until the new rows are here, the table names what its rows are.
  await page.getByRole("table", { name: "Cost and tokens by model" }).waitFor();
  open();
  const table = page.getByRole("table", { name: "Cost and tokens by key" });
  await table.waitFor();
  const address = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
  const shown = await table
    .locator("tbody tr")
    .evaluateAll((rows) =>
      rows.map((row) => [
        row.querySelector("td")?.textContent,
        row.querySelector("data")?.getAttribute("data-nanos"),
      ]),
    );
  const csv: string = await owner.call("GET", String(address).replace("/console/api", ""));
  expect(sumsOfCsv(csv)).toEqual(new Map(shown as [string, string][]));
  await table.getByRole("link", { name: "production" }).click();
  await page.getByRole("heading", { name: "By model" }).waitFor();
  await page.reload();
  await page.getByRole("combobox", { name: "Key" }).getByText("production").waitFor();
  await page.goBack();
  await table.waitFor();
  await finish(watched);
});

/** Cost in nanos by the name of the group. */
function sumsOfCsv(csv: string): ReadonlyMap<string, string> {
  const [head = "", ...lines] = csv.trim().split(/\r?\n/);
  const names = head.split(",");
  const sums = new Map<string, bigint>();
  for (const line of lines) {
    const cells = line.split(",");
    const of = (name: string) => cells[names.indexOf(name)] ?? "";
    sums.set(of("group_name"), (sums.get(of("group_name")) ?? 0n) + parseUsd(of("cost_usd")));
  }
  return new Map([...sums].map(([name, nanos]) => [name, String(nanos)]));
}

test("a field that searches follows the URL", async () => {
  const { url, operator } = world;
  const watched = await openPageAs(browser, { url, path: "/console/operator/people", person: operator });
  const { page } = watched;
  const field = page.getByRole("searchbox");
  await field.fill("dana");
  await page.waitForURL(/q=dana/);
  // For those who do not see the rows.
  await page.getByRole("status").getByText("People: 1 row", { exact: true }).waitFor();
  await page.getByRole("link", { name: "People", exact: true }).click();
  await page.waitForURL(/people$/);
  await page.waitForFunction(
    () => document.querySelector<HTMLInputElement>("main input[type=search]")?.value === "",
  );
  await finish(watched);
});

test("keys move the reading of a chart, and its values are in a table", async () => {
  const { url, acme, owner } = world;
  const path = `/console/accounts/${acme.accountId}/usage?range=7d`;
  const watched = await openPageAs(browser, { url, path, person: owner });
  const { page } = watched;
  const chart = page.getByRole("img", { name: /^Cost per day/ });
  await chart.focus();
  await page.keyboard.press("End");
  const figure = page.getByRole("figure").filter({ has: chart });
  await figure.getByText(/^In total/).waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
  await figure.getByText(/^In total/).waitFor();
  await figure.getByText("Show as a table").click();
  await figure.getByRole("columnheader", { name: "claude-sonnet" }).waitFor();
  await finish(watched);
});

test("a model is found by what it can do, shows how it did without a count, and is tried", async () => {
  const models = `/console/accounts/${world.acme.accountId}/models`;
  await browse(browser, { url: world.url, path: models, person: world.owner }, async (page) => {
    await page.getByRole("combobox", { name: "Can" }).click();
    await page.getByRole("option", { name: "reasoning" }).click();
    const rows = page.getByRole("table", { name: /^Models with/ }).locator("tbody tr");
    await page.getByText("1 of 3 models").waitFor();
    expect(new URL(page.url()).search).toBe("?can=reasoning");
    expect(await rows.textContent()).toMatch(/claude-sonnet.*\d+%.*Try/s);
    await rows.getByRole("link", { name: "claude-sonnet", exact: false }).first().click();
    await page.getByRole("heading", { level: 1, name: "claude-sonnet" }).waitFor();
    const main = page.getByRole("main");
    for (const text of ["$15.00", '"model":"claude-sonnet"']) await main.filter({ hasText: text }).waitFor();
    // Only operators see how much all accounts ask.
    expect(await main.textContent()).not.toMatch(/attempts?\b/i);
    await page.getByRole("link", { name: "Try it" }).click();
    await page.getByRole("heading", { level: 1, name: "Playground" }).waitFor();
    await page.getByRole("combobox", { name: "Model" }).getByText("claude-sonnet").waitFor();
  });
});

test("operators see the hours of each route, named for those who do not see them", async () => {
  await browse(
    browser,
    { url: world.url, path: "/console/operator/health", person: world.operator },
    async (page) => {
      const routes = page.getByRole("table", { name: "Routes in use" });
      const bars = routes.getByRole("img", {
        name: /attempts in 24 hours, \d+ failed, most of them in the hour/,
      });
      await bars.first().waitFor();
      expect(await bars.count()).toBe(3);
      await routes
        .getByRole("img", { name: /^Median of the first output by hour: from/ })
        .first()
        .waitFor();
    },
  );
});
