import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { startChromium } from "../support/chromium.ts";
import type { ModelOutput } from "../support/model-output.ts";
import type { Script } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { until } from "../support/until.ts";
import { signInByForm, untilTitled } from "./world/forms.ts";
import { browse, type PageOptions } from "./world/open-page.ts";
import { signIn } from "./world/signed-in.ts";
import { PASSWORD, startWorld, type World } from "./world/world.ts";

const MODEL = "gpt-4.1-mini";
const HI: ModelOutput = { text: "Hi.", usage: { input: 420, output: 64 } };

let world: World;
let browser: Browser;
/** The secret of a key of Acme without limits, and of one that may spend 0.01 USD. */
let secret: string;
let poorSecret: string;

beforeAll(async () => {
  [world, browser] = await Promise.all([startWorld({ days: 1, perDay: 10 }), startChromium()]);
  const keys = `/accounts/${world.acme.accountId}/keys`;
  const limit = { amount_usd: "0.01", period: "total" };
  ({ secret } = await world.owner.call("POST", keys, { name: "unlimited" }));
  ({ secret: poorSecret } = await world.owner.call("POST", keys, { name: "poor", spending_limit: limit }));
});
afterAll(async () => {
  await browser.close();
  await world.close();
});

const account = () => `/console/accounts/${world.acme.accountId}`;
const visit = (path: string, use: (page: Page) => Promise<void>, options?: PageOptions) =>
  browse(browser, { url: world.url, path: `${account()}${path}`, person: world.owner }, use, options);

test("a burst leaves the live list short, and what it has no place for is said", async () => {
  world.upstream.on(MODEL, answerWith(HI));
  await visit("/requests", async (page) => {
    await page.getByText("Live", { exact: true }).waitFor();
    await page.mouse.move(0, 0);
    // Counted from the first event on.
    const first = await send();
    await page.locator(`a[href*="${first.id}"]`).waitFor();
    for (let round = 0; round < 12; round++) await Promise.all(Array.from({ length: 25 }, () => send()));
    const last = await send();
    await page.locator(`a[href*="${last.id}"]`).waitFor();
    await page.getByText(/^\d+ requests not shown: newer ones took their place/).waitFor();
    expect(
      await page.getByRole("table", { name: "Requests" }).locator("tbody tr").count(),
    ).toBeLessThanOrEqual(150);
  });
});

/** Sends a chat request and returns its id. */
async function send(body: object = {}, as = secret): Promise<{ id: string; status: number }> {
  const answer = await fetch(`${world.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Hello" }], ...body }),
  });
  await answer.text();
  return { id: answer.headers.get("x-request-id") ?? "", status: answer.status };
}

test("from the sign-in, one press finds what a request cost and one why another was refused", async () => {
  world.upstream.on(MODEL, answerWith(HI));
  expect((await send()).status).toBe(200);
  const refused = await send({ max_tokens: 30_000 }, poorSecret);
  expect(refused.status).toBe(402);
  const visitor = { url: world.url, path: account() };
  await browse(
    browser,
    visitor,
    async (page) => {
      await signInByForm(page, { email: world.emails.viewer, password: PASSWORD });
      await untilTitled(page, "Overview");
      const latest = page.getByRole("table", { name: "Latest requests" }).getByRole("link").first();
      await latest.click();
      await untilTitled(page, "Receipt");
      const sum = page.getByRole("table", { name: "Tokens × price = charge" });
      await sum.getByRole("row", { name: /Charged.*\$0\.0002704/ }).waitFor();
      await page.goBack();
      await page.getByRole("link", { name: "Why: spending limit exceeded" }).click();
      await untilTitled(page, "Why was this refused?");
      await page.getByText(/Raise the spending limit/).waitFor();
    },
    { width: 390, height: 844 },
  );
  await visit("/refusals", async (page) => {
    const row = page.getByRole("row", { name: /spending limit exceeded.*poor/ });
    await row.getByText("$0.01", { exact: true }).waitFor();
    await row.getByRole("link").click();
    await untilTitled(page, "Why was this refused?");
    await page.getByText("Needed", { exact: true }).waitFor();
    await page.getByText("Available at that moment").waitFor();
    expect(page.url()).toEndWith(refused.id);
  });
});

test("a request appears without a reload, waits while the list is held, and leads to its receipt", async () => {
  world.upstream.on(MODEL, answerWith(HI));
  await visit("/requests", async (page) => {
    await page.getByText("Live", { exact: true }).waitFor();
    const first = await send();
    const linkOf = (id: string) => page.locator(`a[href$="${id}"]`);
    await linkOf(first.id).waitFor();
    await linkOf(first.id).hover();
    const second = await send();
    await page.getByText("1 new", { exact: true }).waitFor();
    expect(await linkOf(second.id).count()).toBe(0);
    await page.getByRole("heading", { level: 1 }).hover();
    await linkOf(second.id).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused", { exact: true }).waitFor();
    expect(await linkOf(second.id).count()).toBe(1);
    await linkOf(second.id).click();
    await untilTitled(page, "Receipt");
    await page.goBack();
    await page.getByRole("button", { name: "Follow" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
  });
});

test("the dearest request comes first on the page, before newer ones", async () => {
  world.upstream.on(MODEL, answerWith({ text: "Hi.", usage: { input: 420, output: 500 } }));
  const dear = await send();
  world.upstream.on(MODEL, answerWith(HI));
  await send();
  const path = "/requests?sort=-charged";
  await visit(path, async (page) => {
    // How far the order reaches depends on time: the page is compared with its own answer.
    const answer = page.waitForResponse((response) => /api.*sort=-charged/.test(response.url()));
    await page.reload();
    const { items } = await (await answer).json();
    const links = page.getByRole("table", { name: "Requests" }).getByRole("link");
    await links.first().waitFor();
    const hrefs = await links.evaluateAll((all) => all.map((each) => each.getAttribute("href") ?? ""));
    const ids = items.map(({ id }: { id: string }) => id);
    expect(hrefs.map((href) => href.split("/").at(-1))).toEqual(ids);
    expect(ids).toContain(dear.id);
  });
});

test("a session that ends while the list is live leads to the sign-in, and back to the list", async () => {
  const person = await signIn(world.url, { email: world.emails.developer, password: PASSWORD });
  const path = `${account()}/requests`;
  await browse(browser, { url: world.url, path, person }, async (page) => {
    await page.getByText("Live", { exact: true }).waitFor();
    await person.call("POST", "/sign-out");
    // A tab that becomes visible opens its stream again; an open stream ends within 15 s.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await untilTitled(page, "Sign in");
    await signInByForm(page, { email: world.emails.developer, password: PASSWORD });
    await untilTitled(page, "Requests");
    await page.getByText("Live", { exact: true }).waitFor();
  });
});

test("receipts explain a refund, a report above the limit, a failover and an empty answer", async () => {
  await addModel("pair", ["pair-a", "pair-b"]);
  let calls = 0;
  const failFirst: Script = (request) => answerWith(HI, calls++ === 0 ? { status: 503 } : {})(request);
  for (const model of ["pair-a", "pair-b"]) world.upstream.on(model, failFirst);
  const failedOver = await send({ model: "pair" });
  world.upstream.on(MODEL, answerWith({ text: "Hi.", usage: { input: 420, output: 5_000 } }));
  const excessive = await send({ max_tokens: 10 });
  world.upstream.on(MODEL, answerWith({ text: "", usage: { input: 420, output: 30 } }));
  const empty = await send();
  world.upstream.on(MODEL, answerWith(HI));
  const refunded = await send();
  await world.operator.call("POST", `/operator/accounts/${world.acme.accountId}/refunds`, {
    ...{ id: "refund-1", receipt: refunded.id, reason: "wrong answer" },
  });
  const read = (id: string, texts: readonly (string | RegExp)[]) =>
    visit(`/requests/${id}`, async (page) => {
      for (const text of texts) await page.getByText(text).first().waitFor();
    });
  await read(failedOver.id, [/^Sent to/, "answered 503", /^Then sent to/, "answered 200"]);
  await read(excessive.id, ["Exceeded: more tokens were counted than it allowed for"]);
  await read(empty.id, ["empty answer", "The model finished without readable output."]);
  await read(refunded.id, ["Refunded later", "returned to the wallet", /\$0\.0002704 were refunded/]);
});

/** Adds a model with an upstream model of each upstream, and waits until the gateway has it. */
async function addModel(id: string, [openai, anthropic]: readonly [string, string]): Promise<void> {
  const path = join(world.folder, "tollgate.yaml");
  const model = `  ${id}:
    routes: [ { upstream: openai, model: ${openai} }, { upstream: anthropic, model: ${anthropic} } ]
    context_window: 200000
    max_output_tokens: 32000
    price: { input: "0.40", output: "1.60" }
`;
  writeFileSync(path, readFileSync(path, "utf8").replace("models:\n", `models:\n${model}`));
  await until(async () => (await send({ model: id })).status !== 404);
}

test("Ctrl K finds a pasted request id, and says that it does not know another one", async () => {
  world.upstream.on(MODEL, answerWith(HI));
  const { id } = await send();
  const unknown = id.replace(/^.{8}/, "01a00000");
  await visit("/keys", async (page) => {
    const paste = async (text: string) => {
      await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: /request id/ }).waitFor();
      await page.keyboard.press("Control+v");
    };
    await paste(unknown);
    await page.getByRole("status").getByText("Nothing found.").waitFor();
    await page.keyboard.press("Escape");
    // A dialog that is closed but still in the page would take the second Ctrl K for its own.
    await page.locator("dialog").waitFor({ state: "detached" });
    await paste(id);
    await page
      .getByRole("option")
      .filter({ hasText: /request$/ })
      .waitFor();
    await page.keyboard.press("Enter");
    await untilTitled(page, "Receipt");
    expect(page.url()).toEndWith(id);
    await page.goto(`${world.url}${account()}/requests/${unknown}`);
    await page.getByText("No receipt of this account has this id").waitFor();
  });
});
