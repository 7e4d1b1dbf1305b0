import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { WatchedPage } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { openPageAs } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 1, perDay: 20 });
let earlier: WatchedPage;
let later: WatchedPage;
beforeEach(async () => {
  const [key] = world.acme.keyIds;
  const path = `/console/accounts/${world.acme.accountId}/keys/${key}`;
  const open = () => openPageAs(browser, { url: world.url, path, person: world.owner });
  [earlier, later] = await Promise.all([open(), open()]);
  // Both have the form open with the same version before either saves.
  for (const { page } of [earlier, later]) await page.getByRole("button", { name: "Edit" }).click();
});
afterEach(async () => {
  expect([...earlier.faults, ...later.faults]).toEqual([]);
  await Promise.all([earlier.close(), later.close()]);
});

const save = async (page: Page, values: Readonly<Record<string, string>>) => {
  for (const [label, value] of Object.entries(values)) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
  await page.getByRole("button", { name: "Save" }).click();
};

const keyOf = () => world.owner.call("GET", `/accounts/${world.acme.accountId}/keys/${world.acme.keyIds[0]}`);

test("the later of two editors sees both versions, and may save the own one over the other", async () => {
  await save(earlier.page, { "Spending limit": "10", "Requests / minute": "100" });
  await earlier.page.getByText("Key saved").waitFor();
  await save(later.page, { "Spending limit": "20" });
  const dialog = later.page.getByRole("dialog", { name: /Somebody else saved/ });
  const limit = dialog.getByRole("row", { name: /Spending limit/ });
  await limit.waitFor();
  expect(await limit.textContent()).toMatch(/20.*10/);
  await dialog.getByRole("button", { name: "Save mine over theirs" }).click();
  await later.page.getByText("Key saved").waitFor();
  // What the later editor left alone is not undone.
  expect(await keyOf()).toMatchObject({
    spending_limit: { amount_usd: "20.00" },
    requests_per_minute: { limit: 100 },
  });
});

test("the later of two editors may go on from the version that was saved first", async () => {
  await save(earlier.page, { Name: "renamed first" });
  await earlier.page.getByText("Key saved").waitFor();
  await save(later.page, { Name: "renamed second" });
  await later.page.getByRole("button", { name: "Edit theirs" }).click();
  const name = later.page.getByLabel("Name", { exact: true });
  await until(async () => (await name.inputValue()) === "renamed first");
  await save(later.page, { "Running at once": "7" });
  await later.page.getByText("Key saved").waitFor();
  expect(await keyOf()).toMatchObject({ name: "renamed first", concurrent_requests: { limit: 7 } });
});

test("an editor of a key that was revoked meanwhile is told so", async () => {
  const path = `/accounts/${world.acme.accountId}/keys/${world.acme.keyIds[0]}`;
  await world.owner.call("POST", `${path}/revoke`);
  await save(earlier.page, { "Running at once": "9" });
  const dialog = earlier.page.getByRole("dialog", { name: /was revoked meanwhile/ });
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await earlier.page.getByText("The next request would be refused.").waitFor();
});
