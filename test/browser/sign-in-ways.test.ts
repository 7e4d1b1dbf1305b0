import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { codeOf } from "../../src/accounts/second-factor/totp.ts";
import { findAccessibilityFaults } from "../support/axe.ts";
import { startChromium } from "../support/chromium.ts";
import { freePort } from "../support/free-port.ts";
import { CLIENT_ID, CLIENT_SECRET, type OidcServer, startOidcServer } from "../support/oidc-server.ts";
import { openForTests } from "../support/open-for-tests.ts";
import { until } from "../support/until.ts";
import { signInByForm, untilTitled } from "./world/forms.ts";
import { PASSWORD, startWorld, type World } from "./world/world.ts";

const PORT = freePort();
// Passkeys need a name: browsers accept none for an address.
const URL_OF_CONSOLE = `http://localhost:${PORT}`;

const browser: Browser = openForTests(startChromium, (started) => started.close());
let world: World;
let provider: OidcServer;

beforeAll(async () => {
  provider = await startOidcServer([`${URL_OF_CONSOLE}/console/api/oidc/main/callback`]);
  world = await startWorld({
    days: 1,
    perDay: 5,
    environment: { PORT: String(PORT), PUBLIC_URL: URL_OF_CONSOLE },
  });
  const path = join(world.folder, "tollgate.yaml");
  const signIn = `{ oidc: { main: { name: Main, issuer: "${provider.issuer}", client_id: ${CLIENT_ID}, client_secret: "${CLIENT_SECRET}" } } }`;
  const text = readFileSync(path, "utf8").replace("sign_up: open", `sign_up: open, sign_in: ${signIn}`);
  writeFileSync(path, text);
  await until(async () => (await readSetup()).providers.length === 1);
});
afterAll(async () => {
  await world.close();
  await provider.stop();
});

const readSetup = async () => (await fetch(`${URL_OF_CONSOLE}/console/api/setup`)).json();

/** Uses a page of a new visitor, whose device has an authenticator. Fails on errors of the page. */
async function visit(path: string, use: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(`${URL_OF_CONSOLE}/console${path}`);
  await use(page);
  expect(faults).toEqual([]);
  await context.close();
}

/** Makes the proofs of all sessions old, as they are after a quarter of an hour. */
function forgetProofs(): void {
  const database = new Database(join(world.folder, "data", "tollgate.db"));
  database.run("PRAGMA busy_timeout = 60000");
  database.run("UPDATE sessions SET confirmed_at_ms = NULL");
  database.close();
}

async function signOut(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.goto(`${URL_OF_CONSOLE}/console/sign-in`);
}

describe("a passkey", () => {
  test("is added in the profile, signs in without a name, and confirms a step", async () => {
    await visit("/sign-in?next=/profile", async (page) => {
      await signInByForm(page, { email: world.emails.owner, password: PASSWORD });
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("Test device");
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByRole("cell", { name: /^Test device/ }).waitFor();
      await signOut(page);
      await page.getByRole("button", { name: "Sign in with a passkey" }).click();
      await untilTitled(page, "Overview");
      forgetProofs();
      await page.goto(`${URL_OF_CONSOLE}/console/profile`);
      await page.getByRole("button", { name: "Remove Test device" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByRole("button", { name: "Use a passkey" }).click();
      await page.getByText("No passkeys").waitFor();
    });
  });
});

describe("a second factor", () => {
  test("is set up in the profile by a picture, asked for at the sign-in, and turned off", async () => {
    await visit("/sign-in?next=/profile", async (page) => {
      const person = { email: world.emails.developer, password: PASSWORD };
      await signInByForm(page, person);
      await page.getByRole("button", { name: "Set up" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("img", { name: /authenticator app/ }).waitFor();
      expect(await findAccessibilityFaults(page)).toEqual([]);
      const secret = readBase32((await dialog.locator("code").textContent()) ?? "");
      const codeAt = (aheadMs: number) => codeOf(secret, Math.floor((Date.now() + aheadMs) / 30_000));
      await dialog.getByLabel("Code").fill(codeAt(0));
      await dialog.getByRole("button", { name: "Turn it on" }).click();
      await dialog.getByText("Each of these codes").waitFor();
      const [recovery = ""] = ((await dialog.locator("code").textContent()) ?? "").split("\n");
      await dialog.getByRole("button", { name: "I have stored them" }).click();
      await page.getByText("10 recovery codes are left").waitFor();
      await signOut(page);
      await signInByForm(page, person);
      await page.getByLabel("Code").fill("000000");
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByText("The code is wrong").waitFor();
      await page.getByLabel("Code").fill(recovery);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await untilTitled(page, "Overview");
      await page.goto(`${URL_OF_CONSOLE}/console/profile`);
      await page.getByText("9 recovery codes are left").waitFor();
      await page.getByRole("button", { name: "Turn off" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
      await page.getByText("your password alone signs you in").waitFor();
    });
  });
});

describe("a provider", () => {
  test("signs a new person in, who confirms a step there in a window of its own", async () => {
    const sub = "grace";
    provider.subject = { sub, email: "grace@example.com", email_verified: true, name: "Grace" };
    await visit("/sign-in", async (page) => {
      expect(await findAccessibilityFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Continue with Main" }).click();
      await untilTitled(page, "Overview");
      forgetProofs();
      await page.goto(`${URL_OF_CONSOLE}/console/profile`);
      await page.getByRole("cell", { name: "grace@example.com" }).waitFor();
      expect(await findAccessibilityFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("Grace's device");
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByRole("button", { name: "Confirm at Main" }).click();
      await page.getByRole("cell", { name: /^Grace's device/ }).waitFor();
    });
  });

  test("that refuses leads back to the sign-in, which says so", async () => {
    provider.subject = undefined;
    await visit("/sign-in", async (page) => {
      await page.getByRole("button", { name: "Continue with Main" }).click();
      await page.getByText("The provider did not let you in").waitFor();
    });
  });
});

function readBase32(text: string): Uint8Array {
  const letters = [...text].filter((each) => /[A-Z2-7]/.test(each));
  const bits = letters.map((each) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(each).toString(2).padStart(5, "0"),
  );
  return Uint8Array.from(bits.join("").match(/.{8}/g) ?? [], (each) => Number.parseInt(each, 2));
}
