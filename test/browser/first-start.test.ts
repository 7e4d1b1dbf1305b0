import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI, { APIError } from "openai";
import type { Browser, Page } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { startChromium } from "../support/chromium.ts";
import { until } from "../support/until.ts";
import { type FirstStart, startForTheFirstTime } from "./world/first-notice.ts";
import { signInByForm, untilTitled } from "./world/forms.ts";
import { browse } from "./world/open-page.ts";
import { PASSWORD } from "./world/world.ts";

let first: FirstStart;
let browser: Browser;
beforeAll(async () => {
  [first, browser] = await Promise.all([startForTheFirstTime(), startChromium()]);
});
afterAll(async () => {
  await browser.close();
  await first.close();
});

test("the printed password leads to a key, a receipt, a refusal with its reason, and a cure", async () => {
  await browse(browser, { url: first.url, path: "/console" }, async (page) => {
    await signInByForm(page, { email: first.email, password: first.oneTimePassword });
    await untilTitled(page, "Choose a password");
    await page.getByLabel("One-time password").fill(first.oneTimePassword);
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Go on" }).click();
    await untilTitled(page, "Set up");
    await page.getByRole("button", { name: "Check the key" }).waitFor();
    await page.getByRole("link", { name: "Skip" }).click();
    await untilTitled(page, "Overview");
    const before = await readAvailable(page);

    const client = new OpenAI({
      baseURL: `${first.url}/v1`,
      apiKey: await createKey(page, "laptop"),
      maxRetries: 0,
    });
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Make the first request" }).waitFor();
    const answered = await ask(client);
    await stepsAndChartOf(page);
    await page.getByRole("link", { name: "All requests" }).click();
    await untilTitled(page, "Requests");
    await page.locator(`a[href*="${answered}"]`).click();
    await untilTitled(page, "Receipt");
    await page.getByRole("table", { name: "Tokens × price = charge" }).waitFor();
    const charged = await page.locator("tfoot [data-nanos]").first().getAttribute("data-nanos");
    expect(Number(charged)).toBeGreaterThan(0);
    await page.getByRole("link", { name: "Overview" }).click();
    await until(async () => before - (await readAvailable(page)) === BigInt(charged ?? 0));

    await limitKey(page, { key: "laptop", usd: "0.00001" });
    const refused = await refusalOf(client);
    await page.goto(`${first.url}/console`);
    await findById(page, refused);
    await untilTitled(page, "Why was this refused?");
    // The strip above the page says so as well, as soon as the refusal is written.
    await page.getByText("spending limit exceeded", { exact: true }).waitFor();
    await page.getByText("Available at that moment").waitFor();
    await page.getByRole("link", { name: "Raise the limit" }).click();
    await page.getByLabel("Spending limit", { exact: true }).fill("1.00");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Key saved").waitFor();
    await ask(client);
  });
});

/** Waits for the first request on the overview: its steps stay, and the chart beside them has it too. */
async function stepsAndChartOf(page: Page): Promise<void> {
  await page.getByRole("heading", { name: "The first request is made" }).waitFor();
  await page.getByRole("link", { name: /see its receipt/ }).waitFor();
  await page
    .getByRole("status")
    .filter({ hasText: /^Well done: demo has answered, \d+ tokens for \$/ })
    .waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await inviteBy(page);
  await page.getByRole("img", { name: /Cost by day/ }).waitFor();
  expect(await page.getByText("No requests in this range").count()).toBe(0);
  await page.reload();
  await page.getByRole("button", { name: "Hide" }).click();
  await page.getByRole("heading", { name: "The first request is made" }).waitFor({ state: "detached" });
}

/** Invites from the steps: without mail, the inviter gets the link, and the step is done. */
async function inviteBy(page: Page): Promise<void> {
  await page.getByText("This server sends no mail: each invitation is a link for you to pass on.").waitFor();
  await page.getByRole("link", { name: "Invite a person" }).click();
  await page.getByLabel("E-mail").fill("second@example.com");
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  await page.getByRole("button", { name: "Copy link" }).click();
  await copied(page, /\/console\/accept\?token=/);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "Others are invited (done)" }).waitFor();
  await page.getByRole("heading", { name: "Set a limit", exact: true }).waitFor();
}

/** The available balance of the overview in nano-USD. */
async function readAvailable(page: Page): Promise<bigint> {
  const amount = page.getByText("Available", { exact: true }).locator("..").locator("[data-nanos]");
  return BigInt((await amount.getAttribute("data-nanos")) ?? 0);
}

/** Creates a key and returns its secret, as the copy button gives it. */
async function createKey(page: Page, name: string): Promise<string> {
  await page.getByRole("link", { name: "Create key" }).click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("dialog").getByRole("button", { name: "Create key" }).click();
  await page.getByRole("button", { name: "Copy secret" }).click();
  const secret = await copied(page, /^sk-tg-[\w-]{43}$/);
  await page.getByRole("button", { name: "I have stored it" }).click();
  await page.getByRole("row", { name: new RegExp(name) }).waitFor();
  return secret;
}

/** Waits until the clipboard has a text like this, and returns it. */
async function copied(page: Page, pattern: RegExp): Promise<string> {
  let text = "";
  await until(async () => {
    text = await page.evaluate(() => navigator.clipboard.readText());
    return pattern.test(text);
  });
  return text;
}

async function limitKey(
  page: Page,
  { key, usd }: { readonly key: string; readonly usd: string },
): Promise<void> {
  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.getByRole("row", { name: new RegExp(key) }).click();
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByLabel("Spending limit", { exact: true }).fill(usd);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Key saved").waitFor();
}

async function findById(page: Page, id: string): Promise<void> {
  await untilTitled(page, "Overview");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: /request id/ }).fill(id);
  await page
    .getByRole("option")
    .filter({ hasText: /refusal$/ })
    .click();
}

/** Asks the demo model and returns the id of the request. */
async function ask(client: OpenAI): Promise<string> {
  const answer = await client.chat.completions.create({
    model: "demo",
    messages: [{ role: "user", content: "Hello, Tollgate!" }],
  });
  expect(answer.choices[0]?.message.content).not.toBe("");
  return answer._request_id ?? "";
}

/** Asks until the key's limit is known to be spent, and returns the id of the refused request. */
async function refusalOf(client: OpenAI): Promise<string> {
  const refused = await ask(client).catch((error: unknown) => error);
  if (!(refused instanceof APIError)) throw new Error("The request was not refused");
  expect(refused.code).toBe("spending_limit_exceeded");
  return refused.requestID ?? "";
}
