import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { findAccessibilityFaults } from "../support/axe.ts";
import { startChromium, type WatchedPage } from "../support/chromium.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { openPageAs, type PageOptions, settled } from "./world/open-page.ts";
import { startWorld, type World } from "./world/world.ts";

const LONG_MS = 180_000;

let world: World;
let browser: Browser;

beforeAll(async () => {
  [world, browser] = await Promise.all([startWorld(), startChromium()]);
}, LONG_MS);

afterAll(async () => {
  await browser?.close();
  await world?.close();
}, LONG_MS);

describe("keys, models and playground", () => {
  test(
    "a key is created, shown once, edited by two at once, and revoked by its name",
    async () => {
      const watched = await open("/keys?create=1");
      const { page } = watched;
      await page.getByLabel("Name", { exact: true }).fill("browser");
      await page.getByLabel("Requests / minute").fill("7");
      await page.getByRole("button", { name: "Create key" }).last().click();
      const secret = await page.getByRole("region", { name: "secret", exact: true }).textContent();
      expect(secret).toStartWith("sk-tg-");
      expect(await page.getByRole("region", { name: "curl snippet" }).textContent()).toContain(world.url);
      expect(await findAccessibilityFaults(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await page.getByRole("alert").getByText("cannot be shown again").waitFor();
      await page.getByRole("button", { name: "I have stored it" }).click();

      await page.getByRole("link", { name: "browser" }).click();
      await page.getByText("The next request would be admitted.").waitFor();
      await page.getByRole("button", { name: "Edit" }).click();
      await page.getByLabel("Name", { exact: true }).fill("mine");
      const { key, version } = await findKey("browser");
      await world.owner.call("PATCH", `${root()}/keys/${key}`, { version, name: "theirs" });
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("row", { name: "Name mine theirs" }).waitFor();
      await page.getByRole("button", { name: "Save mine over theirs" }).click();
      await page.getByRole("heading", { name: "mine", level: 1 }).waitFor();

      await page.getByRole("button", { name: "More for key mine" }).click();
      await page.getByRole("menuitem", { name: "Revoke" }).click();
      const revoke = page.getByRole("dialog").getByRole("button", { name: "Revoke" });
      expect(await revoke.isDisabled()).toBe(true);
      await page.getByLabel("Type “mine” to confirm").fill("mine");
      await revoke.click();
      await page.getByText("The next request would be refused.").waitFor();
      await finish(watched);
    },
    LONG_MS,
  );

  test(
    "a chat shows what is granted, spent and released, and leads to its receipt",
    async () => {
      world.upstream.on("gpt-4.1-mini", answerWith({ text: "An answer.", usage: { input: 42, output: 6 } }));
      const watched = await open("/playground?model=gpt-4.1-mini");
      const { page } = watched;
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("An answer.", { exact: true }).waitFor();
      await page.getByRole("img", { name: /^Granted .+, spent .+, released/ }).waitFor();
      expect(await findAccessibilityFaults(page)).toEqual([]);
      await page.getByRole("link", { name: "Receipt" }).click();
      await page.getByRole("heading", { name: "Receipt", level: 1 }).waitFor();
      await finish(watched);
    },
    LONG_MS,
  );

  test(
    "an estimate says what a request costs and what is held for it",
    async () => {
      const watched = await open("/models?model=gpt-4.1-mini");
      const { page } = watched;
      await page.getByLabel("Input tokens").fill("1000");
      await page.getByLabel("Output tokens").fill("500");
      await page.getByRole("button", { name: "Estimate" }).click();
      await page.getByText("Held while it runs").waitFor();
      expect(await findAccessibilityFaults(page)).toEqual([]);
      await finish(watched);
    },
    LONG_MS,
  );

  test.each(["/keys", "/models", "/playground"])(
    "%s has no sideways scroll on a phone",
    async (path) => {
      const watched = await open(path, { width: 390, height: 844 });
      expect(await watched.page.evaluate(isTooWide)).toBe(false);
      await finish(watched);
    },
    LONG_MS,
  );
});

function root(): string {
  return `/accounts/${world.acme.accountId}`;
}

function open(path: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { url, owner } = world;
  return openPageAs(browser, { url, path: `/console${root()}${path}`, person: owner }, options);
}

async function findKey(name: string): Promise<{ readonly key: string; readonly version: number }> {
  const { items } = await world.owner.call("GET", `${root()}/keys`);
  const found = items.find((each: { readonly name: string }) => each.name === name);
  return { key: found.id, version: found.version };
}

/** Every fault of a page fails its test. */
async function finish(watched: WatchedPage): Promise<void> {
  await settled(watched);
  expect(watched.faults).toEqual([]);
  await watched.close();
}

function isTooWide(): boolean {
  return document.documentElement.scrollWidth > document.documentElement.clientWidth;
}
