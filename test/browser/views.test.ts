import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { until } from "../support/until.ts";
import { untilTitled } from "./world/forms.ts";
import { browse, type PageOptions } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 3, perDay: 20 });

const at = () => `/console/accounts/${world.acme.accountId}`;

function visit(path: string, use: (page: Page) => Promise<void>, options: PageOptions = {}): Promise<void> {
  return browse(browser, { url: world.url, path, person: world.owner }, use, options);
}

/** The search of the page's address. */
const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

test("a bar leads to its requests, and a drag to the range, by pointer and by keys alike", async () => {
  await visit(`${at()}/usage?range=7d`, async (page) => {
    const chart = page.getByRole("img", { name: /^Cost per day/ });
    await chart.focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await untilTitled(page, "Requests");
    const byKeys = searchOf(page);
    expect(Date.parse(byKeys.to ?? "") - Date.parse(byKeys.from ?? "")).toBe(24 * 3_600_000);
    await page.goBack();
    await chart.waitFor();
    /** Where the last bar is now: on a busy machine the chart is drawn anew below the pointer, which ends a press. */
    const lastBar = async () => {
      const { x, y, width } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 };
      return { right: x + width - 12, top: y + 60, width };
    };
    while (!/\/requests\?/.test(page.url())) {
      const { right, top } = await lastBar();
      await page.mouse.click(right, top);
      await page.waitForURL(/\/requests\?/, { timeout: 5_000 }).catch(() => {});
    }
    await untilTitled(page, "Requests");
    const { model: _, ...byPointer } = searchOf(page);
    expect(byPointer).toEqual(byKeys);
    await page.goBack();
    await chart.waitFor();
    while (!/from=.*to=/.test(page.url())) {
      const { right, top, width } = await lastBar();
      await page.mouse.move(right, top);
      await page.mouse.down();
      await page.mouse.move(right - width / 3, top, { steps: 4 });
      await page.mouse.up();
      await page.waitForURL(/from=.*to=/, { timeout: 5_000 }).catch(() => {});
    }
    const { from = "", to = "" } = searchOf(page);
    expect((Date.parse(to) - Date.parse(from)) / (24 * 3_600_000)).toBeGreaterThanOrEqual(2);
    expect(to).toBe(byKeys.to ?? "");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    const chosen = page
      .getByRole("figure")
      .filter({ has: chart })
      .getByText(/ – .*: \$/);
    // A chart that is drawn anew forgets what the keys have chosen.
    while (!(await chosen.isVisible())) {
      await chart.focus();
      for (const key of ["End", "Shift+ArrowLeft"]) await page.keyboard.press(key);
      await chosen.waitFor({ timeout: 5_000 }).catch(() => {});
    }
    expect(await findAccessibilityFaults(page)).toEqual([]);
  });
});

test("a list keeps the order that was chosen last, and its link shows the same to somebody else", async () => {
  await visit(`${at()}/keys`, async (page) => {
    // The rows before are shown until the server has ordered them.
    const untilFirst = () => page.getByRole("row").nth(1).filter({ hasText: "staging" }).waitFor();
    await page.getByRole("button", { name: "Key", exact: true }).click();
    await page.waitForURL(/sort=name/);
    await page.getByRole("button", { name: /^Key/ }).click();
    await page.waitForURL(/sort=-name/);
    await page.locator('[aria-sort="descending"]').waitFor();
    await untilFirst();
    await page.getByRole("button", { name: "Copy the link to this view" }).click();
    await until(async () => (await page.evaluate(() => navigator.clipboard.readText())) === page.url());
    await page.getByRole("link", { name: "Team", exact: true }).click();
    await untilTitled(page, "Team");
    await page.getByRole("link", { name: "Keys", exact: true }).click();
    await page.waitForURL(/sort=-name/);
    await page.locator('[aria-sort="descending"]').waitFor();
    await untilFirst();
  });
});

test("an old or damaged link shows the first page of a list, without what is damaged of it", async () => {
  const damaged = "page=bm9uc2Vuc2U&scope=planet%3Aearth&metadata=nothing";
  for (const [path, caption] of [
    ["requests?range=8d", "Requests"],
    ["keys?state=all", "Keys"],
    ["audit-trail?range=30d", "Audit trail"],
    ["wallet?tab=entries", "Entries of the wallet"],
  ] as const) {
    await visit(`${at()}/${path}&${damaged}`, async (page) => {
      await page.getByRole("table", { name: caption }).getByRole("row").nth(1).waitFor();
      await page.waitForFunction(() => !new URLSearchParams(location.search).has("page"));
      expect(await page.getByText("planet").count()).toBe(0);
    });
  }
});

test("a German browser shows and takes amounts and dates as Germans write them, and words in English", async () => {
  await visit(
    `${at()}/wallet?topup=1`,
    async (page) => {
      await page.locator("data.amount").first().waitFor();
      expect(await page.locator("data.amount").first().textContent()).toMatch(/^−?[\d.]+,\d{2}\s\$$/);
      const times = await page.locator("time").allInnerTexts();
      expect(times.filter((text) => /[A-Za-z]{3,}|\bPM\b/.test(text) && !/ago|just\snow/.test(text))).toEqual(
        [],
      );
      await page.keyboard.press("Escape");
      await page.goto(`${world.url}${at()}/keys?create=1`);
      const amount = page.getByLabel("Spending limit", { exact: true });
      const takes = async (text: string) => {
        await amount.fill(text);
        return amount.evaluate((input: HTMLInputElement) => input.validationMessage);
      };
      expect(await takes("1.234,56")).toBe("");
      expect(await takes("1.234")).toMatch(/one dollar or a thousand/);
      expect(await takes("1,234.56")).toMatch(/25,00/);
      await page.getByRole("textbox", { name: "Name" }).fill("Schlüssel");
      await amount.fill("12,50");
      await page.getByRole("button", { name: "Create key" }).last().click();
      await page.getByRole("dialog", { name: /is ready/ }).waitFor();
    },
    { language: "de-DE" },
  );
  const { items } = await world.owner.call("GET", `/accounts/${world.acme.accountId}/keys?q=Schl`);
  expect(items[0].spending_limit.amount_usd).toBe("12.50");
});

test("a German browser shows each amount of a receipt, and the change of none, as Germans write them", async () => {
  const { items } = await world.owner.call(
    "GET",
    `/accounts/${world.acme.accountId}/requests?outcome=ok&size=1`,
  );
  await visit(
    `${at()}/requests/${items[0].id}`,
    async (page) => {
      const cells = await page.getByRole("table").first().locator("td:not(:nth-child(2))").allInnerTexts();
      expect(cells.filter((text) => text !== "" && !/^[=+×]? ?\d+,\d+(\s\$)?$/.test(text))).toEqual([]);
      await page.goto(`${world.url}${at()}/models?range=24h`);
      await page.getByRole("row", { name: /production/ }).waitFor();
      expect(await page.getByText("−0\u00a0%").count()).toBe(0);
    },
    { language: "de-DE" },
  );
});

// Ends the session of the owner, and so comes last.
test("Ctrl K acts: it opens the dialog of a new key, a key's limit, a theme, and the place before", async () => {
  await visit(`${at()}/settings`, async (page) => {
    const act = async (text: string) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: /request id/ }).fill(text);
      await page
        .getByRole("option", { selected: true })
        .filter({ hasText: new RegExp(text, "i") })
        .waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Search" }).waitFor({ state: "detached" });
    };
    await untilTitled(page, "Settings");
    await act("theme: dark");
    await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
    await act("create a key");
    await page.getByRole("dialog", { name: "Create a key" }).waitFor();
    await page.keyboard.press("Escape");
    await act("set the limit");
    await page.getByRole("dialog", { name: /^Edit/ }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page
      .getByRole("option")
      .filter({ hasText: /^Keysrecent$/ })
      .click();
    await untilTitled(page, "Keys");
    await act("sign out");
    await untilTitled(page, "Sign in");
    expect(await page.evaluate(() => sessionStorage.getItem("tollgate-recent"))).toBeNull();
  });
});
