import { afterAll, beforeAll, expect, test } from "bun:test";
import { resolve } from "node:path";
import type { Browser, Page } from "playwright-core";
import { parseUsd, printUsd } from "../../src/domain/money.ts";
import { findAccessibilityFaults } from "../support/axe.ts";
import { startChromium, type WatchedPage } from "../support/chromium.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import {
  type CheckoutSession,
  printEvent,
  printObjectEvent,
  type ScriptedStripe,
  signEvent,
  startScriptedStripe,
} from "../support/scripted-stripe.ts";
import { until } from "../support/until.ts";
import { askModel, readPosted } from "./world/acme-money.ts";
import { finish, openPageAs, type PageOptions, settled } from "./world/open-page.ts";
import { startWorld, type World } from "./world/world.ts";

const STRIPE_PAGE = "https://checkout.stripe.com";
const STRIPE_PORTAL = "https://billing.stripe.com";
const STRIPE_HOST = resolve(import.meta.dir, "../support/stripe-host-child.ts");

let stripe: ScriptedStripe;
let world: World;
let browser: Browser;

beforeAll(async () => {
  stripe = startScriptedStripe();
  const environment = { STRIPE_TEST_URL: stripe.url, BUN_OPTIONS: `--preload ${STRIPE_HOST}` };
  [world, browser] = await Promise.all([startWorld({ days: 2, environment }), startChromium()]);
});

afterAll(async () => {
  await browser?.close();
  await world?.close();
  await stripe?.stop();
});

test("a wallet proves itself, and its terms lead to their rows", async () => {
  const watched = await open("/wallet");
  const { page } = watched;
  await page.getByRole("link", { name: /^Held/ }).click();
  await page.getByText("No request holds money now").waitFor();
  await page.getByRole("tab", { name: "Proof" }).click();
  await page.getByRole("button", { name: "Prove it now" }).click();
  await page.getByText("Every entry and every hold add up").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await finish(watched);
});

test("the statement of a month is one page that prints without the console around it, also from the dark", async () => {
  const month = new Date().toISOString().slice(0, 7);
  for (const width of [390, 1440]) {
    const watched = await open("/wallet?tab=statements", { width, height: 900, theme: "dark" });
    const { page } = watched;
    await page.locator(`a[href$="/statements/${month}"]`).click();
    await page.getByRole("article", { name: /^Statement of/ }).waitFor();
    await page.getByText("its closing is that of now").waitFor();
    expect(await isTooWide(page)).toBe(false);
    expect(await findAccessibilityFaults(page)).toEqual([]);
    await page.emulateMedia({ media: "print" });
    expect(await isTooWide(page)).toBe(false);
    expect(await page.getByRole("button", { name: "Print" }).isVisible()).toBe(false);
    expect(await page.getByRole("navigation").first().isVisible()).toBe(false);
    expect(await page.getByRole("rowheader", { name: "Closing balance" }).isVisible()).toBe(true);
    // Colours change with the next frame, which a busy machine draws later.
    await page.waitForFunction(
      () => getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)",
    );
    await finish(watched);
  }
});

test("a statement names both companies, compares two months, and prints tables that go on with their head", async () => {
  const now = new Date();
  const nameOf = (back: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7);
  const details = { name: "Acme Ltd", address: "1 Main St\nSpringfield", tax_id: "GB 123" };
  await world.owner.call("PUT", `${root()}/billing-details`, details);
  const watched = await open(`/statements/${nameOf(0)}?with=${nameOf(1)}`);
  const { page } = watched;
  const paper = page.getByRole("article", { name: /^Statement of/ });
  await paper.getByText("Tax id GB 123").waitFor();
  await paper.getByRole("heading", { name: /^Compared with/ }).waitFor();
  await paper.getByRole("row", { name: /^All charges less refunds/ }).waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.emulateMedia({ media: "print" });
  const looks = await paper.evaluate((element) => ({
    paper: getComputedStyle(element).display,
    heads: [...element.querySelectorAll("thead")].map((head) => getComputedStyle(head).display),
  }));
  // A grid would lay the lines below a table over its last rows where the table goes on.
  expect(looks.paper).toBe("block");
  expect(new Set(looks.heads)).toEqual(new Set(["table-header-group"]));
  expect((await page.pdf({ format: "A4" })).length).toBeGreaterThan(10_000);
  await finish(watched);
});

test("a running request is listed with what it holds, on a phone too, until it ends", async () => {
  const { secret } = await world.owner.call("POST", `${root()}/keys`, { name: "streams" });
  const end = gate();
  world.upstream.on("gpt-4.1-mini", answerWith(undefined, { gate: end.opened }));
  const running = askModel(world, secret);
  const watched = await open("/wallet?tab=holds", { width: 390, height: 844 });
  const { page } = watched;
  await page.getByRole("link", { name: /^Held by 1 running/ }).waitFor();
  await page.getByRole("cell", { name: "streams" }).waitFor();
  expect(await isTooWide(page)).toBe(false);
  expect(await findAccessibilityFaults(page)).toEqual([]);
  end.open();
  expect((await running).status).toBe(200);
  await page.getByText("No request holds money now").waitFor();
  await finish(watched);
});

test("entries of one kind are listed alone, and the page's address keeps the kind", async () => {
  const watched = await open("/wallet");
  const { page } = watched;
  await page.getByRole("combobox", { name: "Kind" }).click();
  await page.getByRole("option", { name: "top-up" }).click();
  await page.waitForURL(/kind=top_up/);
  // The history tops up once, or more often by chance.
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll("main tbody tr")];
    return rows.length > 0 && rows.every(({ textContent }) => textContent?.includes("top-up"));
  });
  await page.getByText("+$250.00").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.goto(page.url().replace("top_up", "late_settlement"));
  await page.getByText("No such entry in this range").waitFor();
  await finish(watched);
});

test("a code adds its amount once, and an unknown or used one is refused at its field", async () => {
  const { codes } = await world.operator.call("POST", "/operator/codes", { amount_usd: "12.50" });
  const before = await readPosted(world);
  const watched = await open("/wallet");
  const { page } = watched;
  const dialog = page.getByRole("dialog", { name: "Top up the wallet" });
  const redeem = async (code: string) => {
    await dialog.getByLabel("Code", { exact: true }).fill(code);
    await dialog.getByRole("button", { name: "Redeem" }).click();
  };
  await page.getByRole("button", { name: "Top up" }).click();
  await redeem("00000-00000-00000-00000");
  await dialog.getByText("No open code reads like this").waitFor();
  expect(await dialog.getByLabel("Code", { exact: true }).getAttribute("aria-invalid")).toBe("true");
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await redeem(codes[0].code.toLowerCase().replaceAll("-", " "));
  await dialog.waitFor({ state: "detached" });
  await page.getByText("+$12.50").first().waitFor();
  await page.getByRole("button", { name: "Top up" }).click();
  await redeem(codes[0].code);
  await dialog.getByText("No open code reads like this").waitFor();
  expect(await readPosted(world)).toBe(before + parseUsd("12.50"));
  await finish(watched);
});

test("a payment leads to Stripe and back, and is credited once, when Stripe reports it", async () => {
  const before = await readPosted(world);
  const watched = await open("/wallet?topup=1");
  const { page } = watched;
  let session: CheckoutSession | undefined;
  stripe.beforeAnswer(async (created) => {
    session = created;
  });
  await page.route(`${STRIPE_PAGE}/**`, (route) => {
    const url = wayBack().replace("{CHECKOUT_SESSION_ID}", session?.id ?? "");
    return route.fulfill({ contentType: "text/html", body: `<a href="${url}">Pay</a>` });
  });
  const amount = page.getByLabel("Amount in USD");
  await amount.fill("2");
  await page.getByRole("button", { name: "Go to the payment" }).click();
  await page.getByText("Enter $5 to $10,000").waitFor();
  await amount.fill("$25.50");
  await page.getByRole("button", { name: "Go to the payment" }).click();
  await page.getByRole("link", { name: "Pay" }).click();
  await page.getByText("The payment is on its way").waitFor();
  expect(await readPosted(world)).toBe(before);
  expect(await findAccessibilityFaults(page)).toEqual([]);
  for (let count = 0; count < 2; count++) expect(await reportPaid(session)).toBe(200);
  await page.getByText("Paid: $25.50").waitFor();
  await page.getByText("+$25.50").first().waitFor();
  expect(await readPosted(world)).toBe(before + parseUsd("25.50"));
  await page.getByRole("button", { name: "Close this message" }).click();
  await page.waitForURL((url) => !url.searchParams.has("checkout"));
  await settled(watched);
  expect(watched.faults).toEqual([`another host: ${STRIPE_PAGE}`]);
  await watched.close();
});

test("a plan is bought on Stripe's page, begins when Stripe reports it, and is managed in the portal", async () => {
  const watched = await open("/wallet");
  const { page } = watched;
  stripe.beforeAnswer(undefined);
  await page.route(`${STRIPE_PAGE}/**`, (route) => {
    stripe.books.billing.buy(route.request().url().split("/").at(-1) ?? "");
    return route.fulfill({ contentType: "text/html", body: `<a href="${wayBack()}">Subscribe</a>` });
  });
  await page.route(`${STRIPE_PORTAL}/**`, (route) =>
    route.fulfill({ contentType: "text/html", body: "<h1>Portal</h1>" }),
  );
  await page.getByRole("button", { name: "Choose a plan" }).click();
  const dialog = page.getByRole("dialog", { name: "Choose a plan" });
  await dialog.getByText("of credit each month").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Go to the payment" }).click();
  await page.getByRole("link", { name: "Subscribe" }).click();
  // The job that reads Stripe every 30 s may be faster than its event.
  const begins = page.getByText("the plan begins when Stripe confirms it");
  await begins.or(page.getByText("when they are paid")).first().waitFor();
  for (const { type, object } of stripe.books.takeEvents()) {
    expect(await report(printObjectEvent(type, object))).toBe(200);
  }
  await page.getByText("when they are paid").waitFor();
  // The credit of the plan may be posted after the page has named the plan.
  await until(async () => {
    const posted = Number(printUsd(await readPosted(world)));
    const text = posted.toLocaleString("en-US", { style: "currency", currency: "USD" });
    return page.getByText(text).first().isVisible();
  });
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Manage at Stripe" }).click();
  await page.getByRole("heading", { name: "Portal" }).waitFor();
  expect(watched.faults).toEqual([STRIPE_PAGE, STRIPE_PORTAL].map((host) => `another host: ${host}`));
  await watched.close();
});

test("an automatic top-up is set up with a card of Stripe's page, and then pays by itself", async () => {
  const before = await readPosted(world);
  const watched = await open("/wallet");
  const { page } = watched;
  const saved = Promise.withResolvers<number>();
  await page.route(`${STRIPE_PAGE}/**`, async (route) => {
    const { type, object } = stripe.books.finishSetup(route.request().url().split("/").at(-1) ?? "");
    saved.resolve(await report(printObjectEvent(type, object)));
    return route.fulfill({ contentType: "text/html", body: `<a href="${wayBack()}">Save</a>` });
  });
  await page.getByText("Automatic top-up is not set up.").waitFor();
  await page.getByRole("button", { name: "Set up" }).click();
  const dialog = page.getByRole("dialog", { name: "Automatic top-up" });
  await dialog.getByLabel("When less than this is available").fill("9000");
  await dialog.getByLabel("add", { exact: true }).fill("4");
  await dialog.getByLabel("and at most, in a month (UTC)").fill("30");
  await dialog.getByRole("button", { name: "Save, and choose a card at Stripe" }).click();
  await dialog.getByText("Enter $5 to $10,000, in whole cents.").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await dialog.getByLabel("add", { exact: true }).fill("$30");
  await dialog.getByRole("button", { name: "Save, and choose a card at Stripe" }).click();
  await page.getByRole("link", { name: "Save" }).click();
  expect(await saved.promise).toBe(200);
  await page.getByText("Paid by visa 4242.").waitFor();
  await page.getByText("The maximum of this month is reached").waitFor();
  await page.getByText("+$30.00").first().waitFor();
  expect(await readPosted(world)).toBe(before + parseUsd("30"));
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await isTooWide(page)).toBe(false);
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByText("Automatic top-up is off.").waitFor();
  await settled(watched);
  expect(watched.faults).toEqual([`another host: ${STRIPE_PAGE}`]);
  await watched.close();
});

test("the lines of a downloaded statement sum to the change of the balance", async () => {
  const watched = await open("/wallet?tab=statements");
  const { page } = watched;
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: /^CSV/ }).first().click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^statement-\d{4}-\d{2}\.csv$/);
  const [head = "", ...rows] = (await Bun.file(await download.path()).text()).trimEnd().split("\n");
  const columns = head.trim().split(",");
  const cells = rows.map((row) => row.trim().split(","));
  const read = (row: readonly string[] | undefined, name: string) => readSigned(row?.[columns.indexOf(name)]);
  const sum = cells.reduce((total, row) => total + read(row, "amount_usd"), 0n);
  const end = read(cells.at(-1), "balance_usd");
  expect(sum).toBe(end - read(cells[0], "balance_usd"));
  expect(end).toBe(await readPosted(world));
  await finish(watched);
});

/** The address to which the newest page of Stripe leads back. Jobs of the gateway call Stripe meanwhile. */
function wayBack(): string {
  return stripe.calls.findLast(({ form }) => form.has("success_url"))?.form.get("success_url") ?? "";
}

/** Sends the webhook of a paid session, and returns its status. */
function reportPaid(session: CheckoutSession | undefined): Promise<number> {
  return report(printEvent(session ?? expect.unreachable()));
}

/** Sends a webhook, signed as Stripe does, and returns its status. */
async function report(body: string): Promise<number> {
  const headers = { "stripe-signature": await signEvent(body) };
  const answer = await fetch(`${world.url}/console/api/stripe/webhook`, { method: "POST", headers, body });
  return answer.status;
}

function readSigned(text = ""): bigint {
  if (text === "") return 0n;
  return text.startsWith("-") ? -parseUsd(text.slice(1)) : parseUsd(text);
}

function root(): string {
  return `/accounts/${world.acme.accountId}`;
}

function open(path: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { url, owner } = world;
  return openPageAs(browser, { url, path: `/console${root()}${path}`, person: owner }, options);
}

function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}
