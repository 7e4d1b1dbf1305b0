import { expect, test } from "bun:test";
import { findAccessibilityFaults } from "../support/axe.ts";
import type { WatchedPage } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { untilTitled } from "./world/forms.ts";
import { furnishProjects } from "./world/furnish-projects.ts";
import { finish, openPageAs } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests();

test("a project is created with a budget, gets a key, and is renamed, archived and restored", async () => {
  const watched = await open("/projects");
  const { page } = watched;
  await page.getByRole("button", { name: "Create project" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Default");
  await dialog.getByRole("button", { name: "Create project" }).click();
  await dialog.getByText("Another project has this name.").waitFor();
  await dialog.getByLabel("Name", { exact: true }).fill("search");
  await dialog.getByLabel("Budget", { exact: true }).fill("12.50");
  await dialog.getByLabel("Limit of each end user", { exact: true }).fill("0.10");
  await dialog.getByRole("button", { name: "Create project" }).click();
  await untilTitled(page, "search");
  await page.getByText("$12.50 left of $12.50 per month").waitFor();
  await page.getByText("$0.10 per month").waitFor();

  await page.getByRole("link", { name: "Create key" }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("search engine");
  const chosen = dialog.getByLabel("Project").locator("option:checked", { hasText: /^search$/ });
  await chosen.waitFor({ state: "attached" });
  await dialog.getByLabel(/May make keys below it/).check();
  await dialog.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("link", { name: "search engine" }).click();
  await page.getByText("Spending limit of the project").waitFor();
  await page.getByText("No key yet").waitFor();
  await page.getByRole("link", { name: "search", exact: true }).click();
  await untilTitled(page, "search");
  await page.getByRole("row", { name: /search engine/ }).waitFor();
  await page.getByRole("row", { name: /^Dana Whitfield/ }).waitFor();

  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await dialog.getByLabel("Name", { exact: true }).fill("find");
  await dialog.getByLabel("Budget", { exact: true }).fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("No budget: the project spends what the wallet has.").waitFor();
  await untilTitled(page, "find");
  for (const [act, done] of [
    ["Archive", "Project archived"],
    ["Restore", "Project restored"],
  ] as const) {
    await page.getByRole("button", { name: "More for project find" }).click();
    await page.getByRole("menuitem", { name: act }).click();
    await dialog.getByRole("button", { name: act }).click();
    await page.getByText(done).waitFor();
  }
  await finish(watched);
});

test("a link to a project is made and revoked on its page, and shows the project without a session", async () => {
  const { projectId } = await furnishProjects(world, "finance team");
  const watched = await open(`/projects/${projectId}`);
  const { page } = watched;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Share", exact: true }).click();
  await dialog.getByRole("button", { name: "Create" }).click();
  const link = (await dialog.locator("code", { hasText: "/console/shared/" }).textContent()) ?? "";
  await dialog.getByRole("button", { name: "I have stored it" }).click();
  const shared = await openPageAs(browser, {
    url: world.url,
    path: new URL(link).pathname,
    person: undefined,
  });
  await untilTitled(shared.page, "finance team");
  await shared.page.getByText("of $25.00 used").waitFor();
  await shared.page.getByText(/This link ends on .*, \d\d:\d\d\s(CEST|CET|GMT\+\d)\./).waitFor();
  await shared.page.getByRole("row", { name: /running/ }).waitFor();
  expect(await findAccessibilityFaults(shared.page)).toEqual([]);
  // The project was furnished with another link.
  const revokes = page.getByRole("button", { name: "Revoke the link" });
  for (const left of [1, 0]) {
    await revokes.first().click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.waitFor({ state: "detached" });
    await until(async () => (await revokes.count()) === left);
  }
  await page.getByText("No link is shared").waitFor();
  await shared.page.reload();
  await untilTitled(shared.page, "Shared usage");
  await shared.page.getByText("of $25.00 used").waitFor({ state: "detached" });
  await shared.close();
  await finish(watched);
});

test("a project that two people edit shows both versions", async () => {
  const { id } = await world.owner.call("POST", `${root()}/projects`, { name: "two editors" });
  const watched = await open(`/projects/${id}`);
  const { page } = watched;
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("mine");
  const theirs = { version: 1, spending_limit: { amount_usd: "3", period: "day" } };
  await world.owner.call("PATCH", `${root()}/projects/${id}`, theirs);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog", { name: /Somebody else saved this project/ }).waitFor();
  await page.getByRole("button", { name: "Save mine over theirs" }).click();
  await untilTitled(page, "mine");
  await page.getByText("$3.00 left of $3.00 per day").waitFor();
  await finish(watched);
});

test("requests of end users show on the project, their receipts, and the page of a refusal by their limit", async () => {
  const { projectId, parentKeyId, attributedId, overLimitId } = await furnishProjects(world);
  const watched = await open(`/projects/${projectId}`);
  const { page } = watched;
  await page.getByRole("row", { name: /ines@shop.example.*50%.*2.*left of \$0\.05 per day/ }).waitFor();
  await page.getByRole("tab", { name: "Keys" }).click();
  await page.getByRole("row", { name: /^customer support bot.*100%/ }).waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.goto(addressOf(`/requests/${attributedId}`));
  for (const [name, text] of [
    ["Project", "customer support"],
    ["Member", "Dana Whitfield"],
    ["End user", "mallory@shop.example"],
    ["Tag", "feature=search"],
  ]) {
    expect(await page.locator(`dt:text-is("${name}") + dd`).textContent()).toBe(text ?? "");
  }
  await page.goto(addressOf(`/refusals/${overLimitId}`));
  await page.getByText("End user order-1187.").waitFor();
  await page.getByText(/\$0\.002704 spent, \$0\.00 on hold · \$0\.047296 left/).waitFor();
  await page.getByRole("link", { name: "Raise the limit" }).click();
  await untilTitled(page, "customer support");
  await page.goto(addressOf(`/keys/${parentKeyId}`));
  await page.getByRole("row", { name: /night run.*\$2\.00 left of \$2\.00 in total/ }).waitFor();
  await page.getByRole("link", { name: "night run" }).click();
  await page.getByText("customer support bot, and ends with it").waitFor();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("late run");
  expect(await page.getByLabel("Requests / minute").count()).toBe(0);
  await page.getByRole("button", { name: "Save" }).click();
  await untilTitled(page, "late run");
  await finish(watched);
});

test("usage is divided by end user and tag, and filtered by one of them, as are requests", async () => {
  const { projectId } = await furnishProjects(world, "second support");
  const watched = await open(`/projects/${projectId}`);
  const { page } = watched;
  const downloading = page.waitForEvent("download");
  await page
    .getByRole("link", { name: /^This project in/ })
    .first()
    .click();
  const file = await Bun.file(await (await downloading).path()).text();
  expect(
    file
      .trimEnd()
      .split("\n")
      .filter((line) => line.includes("second support bot")),
  ).not.toBeEmpty();
  expect(file).not.toContain("production");
  await page.getByRole("link", { name: "Its usage" }).click();
  await untilTitled(page, "Usage");
  await page.getByRole("combobox", { name: "Project" }).getByText("second support").waitFor();
  await page.getByRole("row", { name: /^second support bot/ }).waitFor();
  await page.goto(addressOf("/usage?group=end_user&range=7d"));
  await page.getByRole("link", { name: "ines@shop.example" }).click();
  await page.getByRole("link", { name: "Remove the filter: end user ines@shop.example" }).waitFor();
  await page.getByRole("row", { name: /^gpt-4.1-mini.*100%/ }).waitFor();
  await page.goto(addressOf("/usage?range=7d"));
  await page.getByRole("combobox", { name: "Divide by" }).click();
  await page.getByRole("option", { name: "tag" }).click();
  await page.getByRole("link", { name: "search", exact: true }).click();
  await page.getByRole("link", { name: "Remove the filter: tag feature=search" }).click();
  await page.goto(addressOf("/requests?scope=end_user%3Amallory%40shop.example"));
  await page.getByRole("link", { name: "Remove the filter: end user mallory@shop.example" }).waitFor();
  await page
    .getByRole("row", { name: /gpt-4.1-mini/ })
    .first()
    .waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await finish(watched);
});

test("the team page sets the limit of each member and that of one", async () => {
  await world.owner.call("PUT", `${root()}/member-limits`, { spending_limit: null });
  const watched = await open("/team");
  const { page } = watched;
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Limit each member" }).click();
  await dialog.getByLabel("Spending limit").fill("50");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("Each member: $50.00 per month.").waitFor();
  await page.getByRole("button", { name: "Set limit of Sam Okafor" }).click();
  await dialog.getByLabel("Spending limit").fill("5");
  await dialog.getByLabel("Period", { exact: true }).selectOption("day");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("row", { name: /Sam Okafor.*\$5\.00 left of \$5\.00 per day.*\$50\.00/ }).waitFor();
  await page.getByRole("button", { name: "Set limit of Sam Okafor" }).click();
  expect(await dialog.getByLabel("Spending limit").inputValue()).toBe("5.00");
  await dialog.getByLabel("Spending limit").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("row", { name: /Sam Okafor.*none.*\$50\.00/ }).waitFor();
  await finish(watched);
});

test("an end user who is forgotten has a pseudonym on receipts", async () => {
  const { attributedId } = await furnishProjects(world, "third support");
  const watched = await open("/settings");
  const { page } = watched;
  await page.getByRole("button", { name: "Forget…" }).click();
  await page.getByLabel("End user", { exact: true }).fill("mallory@shop.example");
  await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
  await page.getByText(/^Forgotten on \d+ receipts?\.$/).waitFor();
  const { scopes } = await world.owner.call("GET", `${root()}/requests/${attributedId}`);
  expect(JSON.stringify(scopes)).not.toContain("mallory");
  await finish(watched);
});

test("the settings declare the keys of tags and how end users are named", async () => {
  const watched = await open("/settings");
  const { page } = watched;
  const panel = page.getByRole("region", { name: "Whom requests are for" });
  await panel.getByLabel("Keys of tags").fill("Feature");
  await panel.getByRole("button", { name: "Apply" }).click();
  await panel.getByRole("alert").waitFor();
  await panel.getByLabel("Keys of tags").fill("team, feature");
  await panel.getByLabel("End users are named").selectOption("hashed");
  await panel.getByRole("button", { name: "Apply" }).click();
  await page.getByText("Settings saved").waitFor();
  expect(await world.owner.call("GET", `${root()}/attribution`)).toEqual({
    end_users: "hashed",
    tag_keys: ["feature", "team"],
  });
  await finish(watched);
});

function root(): string {
  return `/accounts/${world.acme.accountId}`;
}

function addressOf(path: string): string {
  return `${world.url}/console${root()}${path}`;
}

function open(path: string): Promise<WatchedPage> {
  const { url, owner } = world;
  return openPageAs(browser, { url, path: `/console${root()}${path}`, person: owner });
}
