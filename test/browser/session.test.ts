import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { connectDatabase } from "../../src/db/database.ts";
import { startChromium } from "../support/chromium.ts";
import { signInByForm, untilTitled } from "./world/forms.ts";
import { mailedLink } from "./world/mailed-link.ts";
import { browse, type PageOptions } from "./world/open-page.ts";
import { signIn } from "./world/signed-in.ts";
import { PASSWORD, startWorld, type World } from "./world/world.ts";

let world: World;
let browser: Browser;
beforeAll(async () => {
  const environment = { TRUSTED_PROXIES: "127.0.0.1" };
  [world, browser] = await Promise.all([startWorld({ days: 2, perDay: 20, environment }), startChromium()]);
});
afterAll(async () => {
  await browser.close();
  await world.close();
});

const dana = () => ({ email: world.emails.owner, password: PASSWORD });
const pathOf = (page: string) => `/console/accounts/${world.acme.accountId}${page}`;

describe("a session that ends", () => {
  test("elsewhere leads to the sign-in at the next step, and from there to the page of that step", async () => {
    const person = await signIn(world.url, dana());
    // Models asks the server for nothing by itself, which would notice the end before the step.
    await browse(browser, { url: world.url, path: pathOf("/models"), person }, async (page) => {
      await (await signIn(world.url, dana())).call("POST", "/me/sessions/end-others");
      await page.getByRole("link", { name: "Refusals" }).click();
      await untilTitled(page, "Sign in");
      await page.getByRole("status").getByText("Your session has ended").waitFor();
      await signInByForm(page, dana());
      await untilTitled(page, "Refusals");
    });
  });

  test("by its age leads to the sign-in at the next visit, and from there back with the filters", async () => {
    const person = await signIn(world.url, dana());
    await expireSessions();
    const path = pathOf("/requests?model=gpt-4.1");
    await browse(browser, { url: world.url, path, person }, async (page) => {
      await untilTitled(page, "Sign in");
      await signInByForm(page, dana());
      await untilTitled(page, "Requests");
      expect(page.url()).toBe(`${world.url}${path}`);
    });
  });

  test("by the person's own hand leaves nothing behind for the next visitor of the browser", async () => {
    const person = await signIn(world.url, dana());
    await browse(browser, { url: world.url, path: pathOf("/keys"), person }, async (page) => {
      await page.getByRole("complementary").getByText(world.emails.owner).click();
      await page.getByRole("button", { name: "Sign out" }).click();
      await untilTitled(page, "Sign in");
      expect(await page.getByText("Your session has ended").count()).toBe(0);
      await page.goBack();
      await untilTitled(page, "Sign in");
      expect(await page.getByText("production").count()).toBe(0);
    });
  });
});

describe("the sign-in", () => {
  const visit = (options: { readonly from: string }, use: Parameters<typeof browse>[2]) =>
    browse(browser, { url: world.url, path: "/console/sign-in" }, use, withAddress(options.from));

  test("says that e-mail or password are wrong, and keeps the e-mail", async () => {
    await visit({ from: "192.0.2.1" }, async (page) => {
      await signInByForm(page, { email: world.emails.owner, password: "a wrong password" });
      expect(await page.getByRole("alert").textContent()).not.toBe("");
      expect(await page.getByLabel("E-mail").inputValue()).toBe(world.emails.owner);
    });
  });

  test("says how long to wait after too many attempts", async () => {
    const from = "192.0.2.2";
    const guess = { email: "nobody@example.com", password: "a wrong password" };
    await visit({ from }, async (page) => {
      // The address may try ten times a minute, which begins when the page is open.
      await Promise.all(
        Array.from({ length: 10 }, () =>
          fetch(`${world.url}/console/api/sign-in`, {
            method: "POST",
            headers: {
              ...{ "content-type": "application/json", "sec-fetch-site": "same-origin" },
              "x-forwarded-for": from,
            },
            body: JSON.stringify(guess),
          }),
        ),
      );
      await signInByForm(page, guess);
      await page.getByText(/Try again in \d+ seconds/).waitFor();
    });
  });
});

describe("the link of a mail", () => {
  test("lets a person choose a new password, works once, and leaves no token in the address bar", async () => {
    const email = world.emails.viewer;
    const password = "another good password";
    const earlier = await signIn(world.url, { email, password: PASSWORD });
    await browse(browser, { url: world.url, path: "/console/sign-in" }, async (page) => {
      await page.getByRole("link", { name: /Forgot/ }).click();
      // The sign-in has a field of the same name, which is there until the page is loaded.
      await untilTitled(page, "Reset the password");
      await page.getByLabel("E-mail").fill(email);
      await page.getByRole("button", { name: "Make the link" }).click();
      await page.getByText("a link is in the server's log").waitFor();
      await untilMainFocused(page);
      const link = await mailedLink(world, email, "reset");
      await page.goto(link);
      await page.getByLabel("New password").fill(password);
      expect(page.url()).toBe(`${world.url}/console/reset`);
      await page.getByRole("button", { name: "Change the password" }).click();
      await untilTitled(page, "Sign in");
      await signInByForm(page, { email, password });
      await untilTitled(page, "Overview");
      await untilMainFocused(page);
      await expect(earlier.call("GET", "/me")).rejects.toThrow("401");
      await page.goto(link);
      await page.getByLabel("New password").fill(PASSWORD);
      await page.getByRole("button", { name: "Change the password" }).click();
      expect(await page.getByRole("alert").textContent()).not.toBe("");
    });
  });

  test("brings an invited stranger into the account with a sign-in of their own", async () => {
    const email = "new.person@example.com";
    const link = await invite(email);
    await browse(browser, { url: world.url, path: "/console/sign-in" }, async (page) => {
      await page.goto(link);
      await untilTitled(page, "Join Acme");
      expect(page.url()).toBe(`${world.url}/console/accept`);
      await page.getByRole("link", { name: "Create your sign-in" }).click();
      await page.getByLabel("Your name").fill("New Person");
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Create" }).click();
      await untilTitled(page, "Overview");
      expect(page.url()).toEndWith(pathOf(""));
    });
  });

  test("brings a person who has a sign-in into another account", async () => {
    const email = world.emails.operator;
    const link = await invite(email);
    await browse(browser, { url: world.url, path: "/console/sign-in" }, async (page) => {
      await page.goto(link);
      await page.getByRole("link", { name: "Sign in to accept" }).click();
      await signInByForm(page, { email, password: PASSWORD });
      await page.getByRole("button", { name: "Accept the invitation" }).click();
      await untilTitled(page, "Overview");
      expect(page.url()).toEndWith(pathOf(""));
    });
  });

  test("that was never sent is said to be gone", async () => {
    await browse(browser, { url: world.url, path: "/console/accept?token=guessed" }, async (page) => {
      await page.getByText("ask for another").waitFor();
      expect(page.url()).toBe(`${world.url}/console/accept`);
    });
  });
});

/** A keyboard goes on at the page that came, and not at the start of the document. */
async function untilMainFocused(page: Page): Promise<void> {
  await page.waitForFunction(() => document.activeElement?.matches("main"));
}

/** The visitor's own address, so that one test is not throttled by the attempts of another. */
function withAddress(address: string): PageOptions {
  return { headers: { "x-forwarded-for": address } };
}

/** Moves the end of every session to the past, as fourteen days without a visit do. */
async function expireSessions(): Promise<void> {
  const path = join(world.folder, "data", "tollgate.db");
  const { db, tables, close } = await connectDatabase({ dialect: "sqlite", path });
  await db.update(tables.sessions).set({ expiresAt: new Date(Date.now() - 1_000) });
  await close();
}

/** Returns the link, which an inviter gets where no mail can be sent. */
async function invite(email: string): Promise<string> {
  const owner = await signIn(world.url, dana());
  const at = `/accounts/${world.acme.accountId}/invitations`;
  return (await owner.call("POST", at, { email, role: "viewer" })).link;
}
