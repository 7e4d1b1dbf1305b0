import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { parseUsd } from "../../src/domain/money.ts";
import { findAccessibilityFaults } from "../support/axe.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { askModel, readPosted } from "./world/acme-money.ts";
import { untilTitled } from "./world/forms.ts";
import { browse } from "./world/open-page.ts";
import type { SignedIn } from "./world/signed-in.ts";
import { PASSWORD } from "./world/world.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 1, perDay: 20 });

test("money of an operator asks for the password, and is booked once it is given, or not at all", async () => {
  const before = await readPosted(world);
  forgetConfirmations();
  await visit("/operator/accounts?q=Acme", async (page) => {
    await choose(page, "Add credit");
    const form = page.getByRole("dialog", { name: "Add credit to Acme" });
    await form.getByLabel("Amount in USD").fill("$40");
    await form.getByLabel("Reason").fill("Goodwill");
    await form.getByRole("button", { name: "Add credit" }).click();
    const asked = page.getByRole("dialog", { name: "Confirm your password" });
    await asked.waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await asked.getByRole("button", { name: "Cancel" }).click();
    await form.getByText("This action needs your password again.").waitFor();
    expect(await form.getByLabel("Reason").inputValue()).toBe("Goodwill");
    expect(await readPosted(world)).toBe(before);

    await form.getByRole("button", { name: "Add credit" }).click();
    await asked.getByLabel("Password").fill("not the password");
    await asked.getByRole("button", { name: "Confirm" }).click();
    await asked.getByRole("alert").waitFor();
    await asked.getByLabel("Password").fill(PASSWORD);
    await asked.getByRole("button", { name: "Confirm" }).click();
    await page.getByText("Credit added:").waitFor();
    await form.waitFor({ state: "detached" });
  });
  expect(await readPosted(world)).toBe(before + parseUsd("40"));
});

test("an account that an operator does not act in leads to its row among all accounts", async () => {
  await visit(`/accounts/${world.acme.accountId}/wallet`, async (page) => {
    await page.getByText("You do not act inside it now").waitFor();
    await page.getByRole("link", { name: "Find it in the list" }).click();
    await untilTitled(page, "Accounts");
    await page.getByRole("row", { name: /Acme/ }).waitFor();
    expect(await page.getByRole("row", { name: /Northwind/ }).count()).toBe(0);
  });
});

test("figures tell which part of the charges is in no margin", async () => {
  await visit("/operator/figures", async (page) => {
    const row = page.getByRole("table", { name: "Plans" }).getByRole("row", { name: /without a plan/ });
    await row.getByText("at known cost").waitFor();
    const known = row.getByText("at known cost").locator("data");
    // No model of this world has a cost.
    expect(await known.getAttribute("data-nanos")).toBe("0");
  });
});

test("a refund returns a request's charge, and the whole charge only once", async () => {
  const { items } = await world.owner.call("GET", `${root()}/requests?outcome=ok`);
  const [{ id, charged_usd: charged }] = items;
  const before = await readPosted(world);
  await visit("/operator/accounts?q=Acme", async (page) => {
    const refund = async () => {
      await choose(page, "Refund a request");
      await page.getByLabel("Request id").fill(id);
      await page.getByLabel("Reason").fill("Wrong answer");
      await page.getByRole("button", { name: "Refund", exact: true }).click();
    };
    await refund();
    await page.getByText("Refund booked:").waitFor();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await refund();
    await page.getByRole("dialog").getByRole("alert").waitFor();
  });
  expect(await readPosted(world)).toBe(before + parseUsd(charged));
});

test("a suspended account is refused requests, and its wallet and the refusal say why, until it is resumed", async () => {
  const { secret } = await world.owner.call("POST", `${root()}/keys`, { name: "checkout" });
  world.upstream.on("gpt-4.1-mini", answerWith());
  expect((await askModel(world, secret)).status).toBe(200);
  await visit("/operator/accounts?q=Acme", async (page) => {
    await choose(page, "Suspend");
    await page.getByLabel("Reason").fill("Chargeback");
    await page.getByRole("button", { name: "Suspend" }).click();
    await page.getByText("Account suspended").waitFor();
    await page.getByRole("row", { name: /Acme suspended/ }).waitFor();
  });
  const refused = await untilStatus(secret, 403);
  const id = refused.headers.get("x-request-id") ?? "";
  await visit(`${root()}/wallet`, seesSuspension, world.owner);
  await visit(
    `${root()}/refusals/${id}`,
    async (page) =>
      void (await page
        .getByText(/account is suspended/)
        .first()
        .waitFor()),
    world.owner,
  );
  await visit("/operator/accounts?q=Acme", async (page) => {
    await choose(page, "Resume");
    await page.getByLabel("Reason").fill("Paid");
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Account resumed").waitFor();
  });
  await untilStatus(secret, 200);
});

test("acting inside an account shows a banner until it ends, and both are in the account's audit trail", async () => {
  await visit("/operator/accounts?q=Acme", async (page) => {
    await choose(page, "Act inside");
    await page.getByLabel("Reason").fill("Asked by Dana");
    await page.getByRole("button", { name: "Open the account" }).click();
    await page.getByText("You act inside “Acme”").waitFor();
    await untilTitled(page, "Overview");
    await page.getByRole("button", { name: "Leave the account" }).click();
    await untilTitled(page, "Accounts");
  });
  await visit(
    `${root()}/audit-trail`,
    async (page) => {
      const rows = page.getByRole("row").filter({ hasText: world.emails.operator });
      await rows.filter({ hasText: /acting.ended/i }).waitFor();
      await rows
        .filter({ hasText: /acting.began/i })
        .filter({ hasText: "Asked by Dana" })
        .waitFor();
    },
    world.owner,
  );
});

test("a filled form asks before Escape drops it, and takes no amount whose point could separate thousands", async () => {
  await visit("/operator/accounts?q=Acme", async (page) => {
    await choose(page, "Add credit");
    const form = page.getByRole("dialog", { name: "Add credit to Acme" });
    const amount = form.getByLabel("Amount in USD");
    const takes = async (text: string) => {
      await amount.fill(text);
      return amount.evaluate((input: HTMLInputElement) => input.validity.valid);
    };
    expect(await takes("1.000")).toBe(false);
    expect(await takes("$ 12.500")).toBe(false);
    expect(await takes("1.000,00")).toBe(false);
    for (const text of ["1000", "1.00", "1.0000", "0.001", "1234.567"]) expect(await takes(text)).toBe(true);
    await page.keyboard.press("Escape");
    await form.getByText("What you typed is not saved.").waitFor();
    expect(await amount.inputValue()).toBe("1234.567");
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
    await choose(page, "Add credit");
    await form.waitFor();
    await page.keyboard.press("Escape");
    await form.waitFor({ state: "detached" });
  });
});

test("an account is made, and codes are shown once, listed and revoked", async () => {
  await visit("/operator/accounts", async (page) => {
    await page.getByRole("button", { name: "New account" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Globex");
    await page.getByRole("button", { name: "Create account" }).click();
    await page.getByRole("row", { name: /Globex/ }).waitFor();
  });
  await visit("/operator/codes", async (page) => {
    await page.getByRole("button", { name: "Create codes" }).first().click();
    await page.getByLabel("Amount of each in USD").fill("0");
    await page.getByLabel("Number of codes").fill("2");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Enter an amount above 0.").waitFor();
    await page.getByLabel("Amount of each in USD").fill("10");
    await page.getByRole("button", { name: "Create", exact: true }).click();
    const shown = page.getByRole("region", { name: "codes", exact: true });
    const codes = (await shown.textContent())?.split("\n") ?? [];
    expect(codes).toHaveLength(2);
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.getByRole("button", { name: "I have stored it" }).click();
    const hint = codes[0]?.slice(0, 5) ?? "";
    await page.getByRole("button", { name: `Revoke code ${hint}` }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row", { name: new RegExp(`${hint}.*revoked`) }).waitFor();
    await page.reload();
    await page.getByRole("row", { name: new RegExp(hint) }).waitFor();
    expect(await page.content()).not.toContain(codes[1] ?? "");
  });
});

test("an account is subscribed, and its plan changed and cancelled, each after a preview", async () => {
  const before = await readPosted(world);
  await visit("/operator/accounts?q=Acme", async (page) => {
    await choose(page, "Subscribe to a plan");
    const form = page.getByRole("dialog", { name: "Subscribe Acme" });
    await form
      .getByText(/^\$20\.00 are granted now for a period.*, \d\d:\d\d\s(CEST|CET|GMT\+\d)\.$/)
      .waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    expect(await readPosted(world)).toBe(before);
    await form.getByLabel("Reason").fill("contract");
    await form.getByRole("button", { name: "Subscribe" }).click();
    await confirm(page, form);
    expect(await readPosted(world)).toBe(before + parseUsd("20"));
  });
  await visit("/operator/subscriptions", async (page) => {
    const start = async (action: string) => {
      await page.getByRole("button", { name: "Actions of the subscription of Acme" }).click();
      await page.getByRole("menuitem", { name: action }).click();
      return page.getByRole("dialog");
    };
    const send = async (action: string) => {
      await page.getByRole("dialog").getByLabel("Reason").fill("asked for it");
      await page.getByRole("dialog").getByRole("button", { name: action }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    const change = await start("Change the plan");
    await change.getByText(/are granted now for the rest of the running period/).waitFor();
    await change.getByLabel("When").selectOption("period_end");
    await change.getByText(/with \$50\.00 of plan Max/).waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await send("Change the plan");
    await page.getByRole("row", { name: /Acme.*Pro.*then Max.*active/ }).waitFor();
    const cancel = await start("Cancel");
    await cancel.getByText(/^The subscription ends on/).waitFor();
    await send("Cancel the subscription");
    await page.getByRole("row", { name: /Acme.*ends/ }).waitFor();
    await start("Resume");
    await send("Resume");
    await page.getByRole("row", { name: /Acme.*active/ }).waitFor();
    await start("Pause");
    await page.getByText(/^No period begins until the subscription is resumed/).waitFor();
    await send("Pause");
    await page.getByRole("row", { name: /Acme.*paused/ }).waitFor();
  });
  const wallet = `/accounts/${world.acme.accountId}/wallet`;
  const seesPlan = async (page: Page) => {
    await page.getByRole("heading", { name: "Plan Pro" }).waitFor();
    await page.getByText("The plan is paused: no credit follows until it is resumed.").waitFor();
    expect(await findAccessibilityFaults(page)).toEqual([]);
  };
  await visit(wallet, seesPlan, world.owner);
});

/** Waits until a form is done. Gives the password where the page asks for it again. */
async function confirm(page: Page, form: Locator): Promise<void> {
  const asked = page.getByRole("dialog", { name: "Confirm your password" });
  const done = form.waitFor({ state: "detached" });
  await Promise.race([done, asked.waitFor().catch(() => undefined)]);
  if (await asked.isVisible()) {
    await asked.getByLabel("Password").fill(PASSWORD);
    await asked.getByRole("button", { name: "Confirm" }).click();
  }
  await done;
}

/** Uses a page of the console, by default as the operator. */
function visit(path: string, use: (page: Page) => Promise<void>, person: SignedIn = world.operator) {
  return browse(browser, { url: world.url, path: `/console${path}`, person }, use);
}

/** Chooses an action of Acme, the only account that the list shows. */
async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole("button", { name: "Actions of account Acme" }).click();
  await page.getByRole("menuitem", { name: action }).click();
  await page.getByRole("dialog").waitFor();
}

async function seesSuspension(page: Page): Promise<void> {
  await page.getByText("This account is suspended").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
}

/** Makes the sessions of operators ones whose password was given long ago. */
function forgetConfirmations(): void {
  const database = new Database(join(world.folder, "data", "tollgate.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run(
    "UPDATE sessions SET confirmed_at_ms = 0 WHERE user_id IN (SELECT id FROM people WHERE is_operator)",
  );
  database.close();
}

/** Asks until the gateway has read the account's new state. */
async function untilStatus(secret: string, status: number): Promise<Response> {
  for (;;) {
    const answer = await askModel(world, secret);
    await answer.text();
    if (answer.status === status) return answer;
    await Bun.sleep(100);
  }
}

function root(): string {
  return `/accounts/${world.acme.accountId}`;
}
