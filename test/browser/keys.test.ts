import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { printUsd } from "../../src/domain/money.ts";
import { findAccessibilityFaults } from "../support/axe.ts";
import type { WatchedPage } from "../support/chromium.ts";
import { gate } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { until } from "../support/until.ts";
import { untilTitled } from "./world/forms.ts";
import { finish, followPath, openPageAs, type PageOptions } from "./world/open-page.ts";
import { findSnippetFault } from "./world/snippet-faults.ts";
import { worldForTests } from "./world/world-for-tests.ts";

const { world, browser } = worldForTests();

test("no page reads the whole list of keys, which an account may have hundreds of", async () => {
  const watched = await open("/keys");
  const whole: string[] = [];
  watched.page.on("request", (request) => {
    const { pathname, search } = new URL(request.url());
    if (pathname.endsWith("/keys") && !search.includes("size=")) whole.push(pathname);
  });
  const root = `/console/accounts/${world.acme.accountId}`;
  for (const path of ["", "/requests", "/usage", "/playground", "/keys?create=1", "/links"]) {
    await followPath(watched, `${root}${path}`);
    if (path === "/links") await watched.page.getByRole("button", { name: "Create link" }).first().click();
  }
  expect(whole).toEqual([]);
  await finish(watched);
});

test("a key is created, shown once with code that works, and revoked by its name", async () => {
  const watched = await open("/keys?create=1");
  const { page } = watched;
  await page.getByLabel("Name", { exact: true }).fill("browser");
  await page.getByLabel("Requests / minute").fill("7");
  await page.getByText("Only these models").click();
  await page.getByRole("button", { name: "Create key" }).last().click();
  await page.getByText("Choose at least one model.").waitFor();
  await page.getByLabel("gpt-4.1-mini").check();
  await page.getByRole("button", { name: "Create key" }).last().click();
  const secret = await readSecret(page);
  expect(secret).toStartWith("sk-tg-");
  expect(await findAccessibilityFaults(page)).toEqual([]);
  for (const tab of await page.getByRole("dialog").getByRole("tab").all()) {
    await tab.click();
    const title = (await tab.textContent()) ?? "";
    const code = await page.getByRole("region", { name: `${title} snippet` }).textContent();
    expect(await findSnippetFault(title, code ?? "", { url: world.url, secret })).toBeUndefined();
  }
  await page.keyboard.press("Escape");
  await page.getByRole("alert").getByText("cannot be shown again").waitFor();
  await page.getByRole("button", { name: "I have stored it" }).click();

  await page.getByRole("row", { name: /browser.*admitted/ }).waitFor();
  await page.getByRole("link", { name: "browser" }).click();
  await page.getByText("The next request would be admitted.").waitFor();
  await page.getByRole("button", { name: "More for key browser" }).click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  const revoke = page.getByRole("dialog").getByRole("button", { name: "Revoke" });
  expect(await revoke.isDisabled()).toBe(true);
  await page.getByLabel("Type “browser” to confirm").fill("browser");
  await revoke.click();
  await page.getByText("The next request would be refused.").waitFor();
  await finish(watched);
});

test("a rotated key has two secrets until the old one is ended", async () => {
  const { key, secret: old } = await world.owner.call("POST", `${root()}/keys`, { name: "two secrets" });
  const watched = await open(`/keys/${key.id}`);
  const { page } = watched;
  await page.getByRole("button", { name: "Rotate", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
  const secret = await readSecret(page);
  expect(secret).not.toBe(old);
  await page.getByRole("button", { name: "I have stored it" }).click();
  for (const each of [old, secret]) expect(await chat(each)).toBe(200);
  await page.getByText(/works until \d+\s\w+\s\d{4}/).waitFor();
  await page.getByRole("button", { name: "End it now" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End it now" }).click();
  await page.getByText("Old secret ended").waitFor();
  await page.getByText("works until").waitFor({ state: "detached" });
  await until(async () => (await chat(old)) === 401);
  expect(await chat(secret)).toBe(200);
  await finish(watched);
});

test("a chat shows what is granted, spent and released, and leads to its receipt", async () => {
  world.upstream.on("gpt-4.1-mini", answerWith({ text: "An answer.", usage: { input: 42, output: 6 } }));
  const watched = await open("/playground?model=gpt-4.1-mini");
  const { page } = watched;
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("An answer.", { exact: true }).waitFor();
  await page.getByRole("img", { name: /^Granted .+, spent .+, released/ }).waitFor();
  expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("");
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.getByRole("link", { name: "Receipt" }).click();
  await untilTitled(page, "Receipt");
  await finish(watched);
});

test("a chat that is stopped shows what it spent and released, as the ledger has it", async () => {
  const { opened, open: release } = gate();
  const text = "The first words of a long answer. ".repeat(20);
  const usage = { input: 42, output: 160 };
  world.upstream.on("gpt-4.1-mini", answerWith({ text, usage }, { pauseAt: { bytes: 4_000, gate: opened } }));
  const watched = await open("/playground?model=gpt-4.1-mini");
  const { page } = watched;
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText(/The first words/).waitFor();
  await page.getByText("streaming", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("stopped", { exact: true }).waitFor();
  await page.getByRole("img", { name: /^Granted .+, spent .+, released/ }).waitFor();
  release();
  const nanosOf = async (name: string) =>
    BigInt((await page.locator(`dt:text-is("${name}") + dd [data-nanos]`).getAttribute("data-nanos")) ?? -1);
  const [granted, spent, released] = [
    await nanosOf("granted"),
    await nanosOf("spent"),
    await nanosOf("released"),
  ];
  expect(spent).toBeGreaterThan(0n);
  expect(spent + released).toBe(granted);
  const href = (await page.getByRole("link", { name: "Receipt" }).getAttribute("href")) ?? "";
  const receipt = await world.owner.call("GET", `${root()}/requests/${href.split("/").at(-1)}`);
  expect(receipt).toMatchObject({ outcome: "client_closed", charged_usd: printUsd(spent) });
  const { held_usd } = await world.owner.call("GET", `${root()}/wallet`);
  expect(held_usd).toBe("0.00");
  await finish(watched);
});

test("a key at its limit says what the next request is refused for, and a raised limit mends it", async () => {
  const spending_limit = { amount_usd: "0.000001", period: "month" };
  const body = { name: "at its limit", spending_limit };
  const { key } = await world.owner.call("POST", `${root()}/keys`, body);
  const watched = await open("/keys?q=at%20its");
  const { page } = watched;
  await page.getByRole("row", { name: /refused.*spending limit exceeded.*left/ }).waitFor();
  await page.getByRole("link", { name: "at its limit" }).click();
  await page.getByText("The next request would be refused.").waitFor();
  await page.goto(`${world.url}/console${root()}/playground?model=gpt-4.1-mini&key=${key.id}`);
  await page.getByLabel("Prompt", { exact: true }).fill("Too dear");
  await page.getByRole("button", { name: "Send" }).click();
  await page
    .getByRole("alert")
    .getByText(/spending limit/i)
    .waitFor();
  expect(await page.getByLabel("Prompt", { exact: true }).inputValue()).toBe("Too dear");
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await page.getByRole("link", { name: "Why was it refused?" }).click();
  await untilTitled(page, "Why was this refused?");
  await page.getByRole("link", { name: "Raise the limit" }).click();
  await page.getByLabel("Spending limit", { exact: true }).fill("1.00");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The next request would be admitted.").waitFor();
  await finish(watched);
});

test("an estimate says what a request costs and what is held for it", async () => {
  const watched = await open("/models?model=gpt-4.1-mini");
  const { page } = watched;
  await page.getByLabel("Input tokens").fill("1000");
  await page.getByLabel("Output tokens").fill("500");
  await page.getByRole("button", { name: "Estimate" }).click();
  await page.getByText("Held while it runs").waitFor();
  expect(await findAccessibilityFaults(page)).toEqual([]);
  await finish(watched);
});

function root(): string {
  return `/accounts/${world.acme.accountId}`;
}

function open(path: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { url, owner } = world;
  return openPageAs(browser, { url, path: `/console${root()}${path}`, person: owner }, options);
}

/** The secret that the open dialog shows. */
async function readSecret(page: Page): Promise<string> {
  return (await page.getByRole("region", { name: "secret", exact: true }).textContent()) ?? "";
}

/** Sends a short request with a secret and returns its status. */
async function chat(secret: string): Promise<number> {
  const answer = await fetch(`${world.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "gpt-4.1-mini", messages: [{ role: "user", content: "Hi" }] }),
  });
  await answer.text();
  return answer.status;
}
