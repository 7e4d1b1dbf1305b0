import { expect, test } from "bun:test";
import { findAccessibilityFaults } from "../support/axe.ts";
import { openPageAs } from "./world/open-page.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests({ days: 2, perDay: 10 });

test("a click while the gateway is away keeps the console, says so, and shows the page when it is back", async () => {
  const path = `/console/accounts/${world.acme.accountId}/wallet`;
  const { page, context, close } = await openPageAs(browser, { url: world.url, path, person: world.owner });
  // As for a gateway that has stopped: every connection is refused, the page's own document included.
  await context.route("**/*", (route) => route.abort("connectionrefused"));
  await page.getByRole("link", { name: "Refusals" }).click();
  const strip = page.getByText("The gateway cannot be reached. Figures are of");
  await strip.waitFor();
  expect(await page.getByRole("navigation").first().isVisible()).toBe(true);
  await context.unroute("**/*");
  await page.getByRole("heading", { name: "Refusals", level: 1 }).waitFor();
  await strip.waitFor({ state: "detached" });
  await close();
});

test("every page of an account says why its requests are refused and what mends that, until it is mended", async () => {
  const { id } = await world.owner.call("POST", "/accounts", { name: "Penniless" });
  const { codes } = await world.operator.call("POST", "/operator/codes", { amount_usd: "5" });
  const root = `/console/accounts/${id}`;
  for (const path of ["", "/requests", "/settings"]) {
    const { page, close } = await openPageAs(browser, {
      url: world.url,
      path: `${root}${path}`,
      person: world.owner,
    });
    const strip = page.getByRole("status").filter({ hasText: "Requests are being refused." });
    await strip.waitFor();
    expect(await strip.textContent()).toContain("The wallet of $0.00 would refuse even a short request");
    expect(await findAccessibilityFaults(page)).toEqual([]);
    const side = await page.getByRole("complementary").boundingBox();
    expect((side?.y ?? 0) + (side?.height ?? 0)).toBe(page.viewportSize()?.height ?? 0);
    if (path === "/settings") {
      // A plan is for sale. Whoever has a code closes the choice.
      await strip.getByRole("link", { name: "Choose a plan" }).click();
      await page.getByRole("dialog", { name: "Choose a plan" }).getByText("of credit each month").waitFor();
      await page.keyboard.press("Escape");
      await page.waitForURL((url) => !url.searchParams.has("plan"));
      await page.getByRole("button", { name: "Top up" }).click();
      await page.getByLabel("Code", { exact: true }).fill(codes[0].code);
      await page.getByRole("button", { name: "Redeem" }).click();
      await strip.waitFor({ state: "detached" });
      await page.getByRole("link", { name: "Keys", exact: true }).click();
      await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
      expect(await strip.isVisible()).toBe(false);
    }
    await close();
  }
});

test("a database that does not answer is said, with the age of what is shown, until it answers", async () => {
  const path = `/console/accounts/${world.acme.accountId}/wallet`;
  const { page, context, close } = await openPageAs(browser, { url: world.url, path, person: world.owner });
  const fails = { status: 500, headers: { "x-request-id": "r" }, json: {} };
  await context.route("**/console/api/**", (route) => route.fulfill(fails));
  await context.route("**/readyz", (route) =>
    route.fulfill({ status: 503, json: { status: "not_ready", checks: { database: { ok: false } } } }),
  );
  await page.getByRole("link", { name: "Refusals" }).click();
  const strip = page.getByRole("alert").filter({ hasText: "The database does not answer. Figures are of" });
  await strip.getByText(/, just\snow|min\.\sago/).waitFor();
  await context.unroute("**/readyz");
  await context.unroute("**/console/api/**");
  await strip.waitFor({ state: "detached" });
  await close();
});

test("an operator is told on every page which upstream rests, and a member which request was refused", async () => {
  const path = `/console/accounts/${world.acme.accountId}/settings`;
  const created = await world.owner.call("POST", `/accounts/${world.acme.accountId}/keys`, {
    name: "strict",
  });
  const answer = await fetch(`${world.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${created.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "no-such-model", messages: [{ role: "user", content: "?" }] }),
  });
  expect(answer.ok).toBe(false);
  // The list writes what was counted, which a page reads again after 30 s.
  await world.owner.call("GET", `/accounts/${world.acme.accountId}/refusals`);
  await world.operator.call("POST", "/operator/upstreams/anthropic/circuit", { state: "open" });
  const member = await openPageAs(browser, { url: world.url, path, person: world.owner });
  const refused = member.page
    .getByRole("status")
    .filter({ hasText: "1 request was refused in the last 10 minutes" });
  await refused.getByText("of the key “strict”").waitFor();
  expect(await member.page.getByText("The upstream").count()).toBe(0);
  await refused.getByRole("link", { name: "See why" }).click();
  await member.page.waitForURL(/\/refusals\/[\w-]+$/);
  await member.close();
  const visit = { url: world.url, path: "/console/operator/codes", person: world.operator };
  const { page, close } = await openPageAs(browser, visit);
  await page.getByText("The upstream “anthropic” rests: an operator opened its circuit.").waitFor();
  await world.operator.call("POST", "/operator/upstreams/anthropic/circuit", { state: "closed" });
  await close();
});

/** How long a page waits at most for what its strips say, in milliseconds. */
const STRIPS_MS_MAX = 300;

test("a page does not move when it is drawn below a strip", async () => {
  const { id } = await world.owner.call("POST", "/accounts", { name: "Steady" });
  const path = `/console/accounts/${id}/settings`;
  const { page, close } = await openPageAs(browser, { url: world.url, path, person: world.owner });
  await page.addInitScript((stripsMsMax) => {
    const tops = new Set<number>();
    // On a busy machine the answer takes longer than the page waits for it: this page waits for a minute.
    const { setTimeout: begin } = window;
    const setTimeout = (work: TimerHandler, ms?: number) => begin(work, ms === stripsMsMax ? 60_000 : ms);
    Object.assign(window, { tops, setTimeout });
    const look = () => {
      const head = document.querySelector("h1");
      if (head) tops.add(Math.round(head.getBoundingClientRect().top));
      requestAnimationFrame(look);
    };
    look();
  }, STRIPS_MS_MAX);
  await page.reload();
  await page.getByRole("status").filter({ hasText: "Requests are being refused." }).waitFor();
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  const tops = await page.evaluate(() => [...(window as unknown as { tops: Set<number> }).tops]);
  expect(tops).toHaveLength(1);
  await close();
});
