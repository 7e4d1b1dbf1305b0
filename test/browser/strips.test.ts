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
      await strip.getByRole("link", { name: "Top up" }).click();
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
