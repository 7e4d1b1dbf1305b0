import { afterEach, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { startChromium } from "../support/chromium.ts";
import { type MailCatcher, startMailCatcher } from "../support/mail-catcher.ts";
import { serveLedgerProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";
import { createTestDatabase } from "../support/test-database.ts";
import { type FirstStart, startForTheFirstTime } from "./world/first-notice.ts";
import { untilTitled } from "./world/forms.ts";
import { browse } from "./world/open-page.ts";
import { signIn } from "./world/signed-in.ts";
import { PASSWORD } from "./world/world.ts";

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

async function start(environment: Readonly<Record<string, string>>): Promise<FirstStart> {
  const first = await startForTheFirstTime(environment);
  ending.push(first.close);
  return first;
}

async function startBrowser(): Promise<Browser> {
  const browser = await startChromium();
  ending.push(() => browser.close());
  return browser;
}

/** Sends a request, and finds what it cost on the overview, in the wallet and on its receipt. */
async function checkMoneyPages(first: FirstStart): Promise<void> {
  const browser = await startBrowser();
  const person = await signIn(first.url, {
    email: first.email,
    password: first.oneTimePassword,
    newPassword: PASSWORD,
  });
  const answer = await fetch(`${first.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${first.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "demo", messages: [{ role: "user", content: "Hello" }] }),
  });
  await answer.text();
  expect(answer.status).toBe(200);
  const request = answer.headers.get("x-request-id");
  await browse(browser, { url: first.url, path: "/console", person }, async (page) => {
    await untilTitled(page, "Overview");
    await page.getByText("Cost by day and model").waitFor();
    await page.getByRole("link", { name: "Wallet", exact: true }).click();
    await untilTitled(page, "Wallet");
    await page.getByText("Topped up so far").waitFor();
    await page.getByRole("link", { name: "Requests", exact: true }).click();
    await page.locator(`a[href*="${request}"]`).click();
    await page.getByRole("table", { name: "Tokens × price = charge" }).waitFor();
  });
}

test("the console shows money of a gateway on PostgreSQL", async () => {
  const database = await createTestDatabase();
  ending.push(() => database.drop());
  await checkMoneyPages(await start({ DATABASE_URL: database.url }));
});

test("the console shows money of a ledger in another process", async () => {
  const token = "a-token-that-both-know";
  const ledger = await serveLedgerProcess({ folder: tempFolder(), environment: { LEDGER_TOKEN: token } });
  ending.push(async () => {
    ledger.signal("SIGKILL");
    await ledger.exitCode;
  });
  await checkMoneyPages(await start({ LEDGER_URL: `grpc://${ledger.address}`, LEDGER_TOKEN: token }));
});

test("the link of a password reset reaches a real mail server and opens the page", async () => {
  const catcher: MailCatcher = await startMailCatcher();
  ending.push(() => catcher.stop());
  const first = await start({ SMTP_URL: catcher.url, MAIL_FROM: "Tollgate <noreply@tollgate.example>" });
  const { email } = first;
  const browser = await startBrowser();
  await browse(browser, { url: first.url, path: "/console/forgot" }, async (page) => {
    await page.getByLabel("E-mail").fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    await page.getByText("a link is on its way").waitFor();
    const mail = await catcher.until(({ to }) => to.includes(email));
    const link = /http\S+\/console\/reset\?token=[\w-]+/.exec(mail.text)?.[0] ?? "";
    await page.goto(link);
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Change the password" }).click();
    await untilTitled(page, "Sign in");
  });
  await signIn(first.url, { email, password: PASSWORD });
});
