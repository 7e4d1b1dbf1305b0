import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { createPasswords } from "../../src/accounts/people/passwords.ts";
import { insertPerson } from "../../src/accounts/people/people.ts";
import { startChromium } from "../support/chromium.ts";
import { type MailCatcher, startMailCatcher } from "../support/mail-catcher.ts";
import { answer } from "../support/script.ts";
import { answerWith } from "../support/scripted-answers.ts";
import { scriptedUpstream } from "../support/test-catalog.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";
import { untilTitled } from "./world/forms.ts";
import { browse } from "./world/open-page.ts";
import { type SignedIn, signIn } from "./world/signed-in.ts";
import { PASSWORD } from "./world/world.ts";

const EMAIL = "dana@example.com";
const MAILED = "alerts@example.com";

let catcher: MailCatcher;
let gateway: TestGateway;
let browser: Browser;
let person: SignedIn;
beforeAll(async () => {
  catcher = await startMailCatcher();
  [gateway, browser] = await Promise.all([startGateway(catcher), startChromium()]);
  await addOwner(gateway);
  person = await signIn(gateway.url, { email: EMAIL, password: PASSWORD });
});
afterAll(async () => {
  await browser.close();
  await gateway.stop();
  await catcher.stop();
});

/** A gateway whose webhooks may reach this machine, and whose circuits open after three failures. */
function startGateway({ url }: MailCatcher): Promise<TestGateway> {
  return startTestGateway({
    topUp: "10",
    upstreams: ({ openaiUrl }) => [
      scriptedUpstream("scripted-openai", "openai", { baseUrl: openaiUrl, circuitFailures: 3 }),
      scriptedUpstream("scripted-anthropic", "anthropic", {}),
    ],
    config: {
      console: {
        publicUrl: undefined,
        trustedProxies: [],
        mail: { url, from: "tollgate@example.com" },
        stripe: { secretKey: undefined, webhookSecret: undefined },
        allowsLoopbackWebhooks: true,
      },
    },
  });
}

/** Adds a person who owns the gateway's account, and is an operator. */
async function addOwner({ tollgate: { database }, accountId }: TestGateway): Promise<void> {
  const passwordHash = await createPasswords().hash(PASSWORD);
  const flags = { emailVerified: true, isOperator: true, mustChangePassword: false };
  await database.transact(async (tx) => {
    const dana = { email: EMAIL, name: "Dana Whitfield", passwordHash, ...flags };
    const { id: personId } = await insertPerson(database, tx, dana, Date.now());
    const member = { accountId, personId, role: "owner" as const, createdAtMs: Date.now() };
    await tx.insert(database.tables.members).values(member);
  });
}

const visit = (path: string, use: (page: Page) => Promise<void>) =>
  browse(browser, { url: gateway.url, path, person }, use);

async function sendRequest(): Promise<number> {
  const answered = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.secret}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hello" }], max_tokens: 50 }),
  });
  await answered.text();
  return answered.status;
}

/** A receiver of webhooks on this machine. */
function startReceiver() {
  const calls: { readonly signature: string; readonly body: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const signature = request.headers.get("tollgate-signature") ?? "";
      calls.push({ signature, body: await request.text() });
      return new Response();
    },
  });
  return { calls, url: `http://127.0.0.1:${server.port}/hook`, stop: () => server.stop(true) };
}

async function choose(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: /^More for the rule/ }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

test("a balance that a request takes below a rule's threshold is reported once by console, mail and webhook", async () => {
  const receiver = startReceiver();
  await visit(`/console/accounts/${gateway.accountId}/notices`, async (page) => {
    await page.getByRole("button", { name: "Add rule" }).click();
    await page.getByLabel("USD").fill("10.00");
    await page.getByLabel("E-mail addresses").fill(MAILED);
    await page.getByLabel("Webhook").fill(receiver.url);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("less than $10.00 is available").waitFor();
    await choose(page, "Webhook and secret");
    const secret = await page.getByRole("region", { name: "secret", exact: true }).textContent();
    await page.keyboard.press("Escape");

    expect(await sendRequest()).toBe(200);
    const notice = page.getByRole("table", { name: "Notices", exact: true }).getByText(/below \$10\.00/);
    await notice.waitFor();
    await page.getByText("crossed", { exact: true }).waitFor();
    const mail = await catcher.until(({ to }) => to.includes(MAILED));
    expect(mail.text).toContain("below 10.00 USD");

    expect(await sendRequest()).toBe(200);
    await choose(page, "Deliveries");
    const sent = page.getByRole("dialog").getByRole("table", { name: "Deliveries" });
    await sent.getByText("HTTP 200").waitFor();
    await page.waitForFunction(() => document.body.textContent?.split("delivered").length === 3);
    await page.keyboard.press("Escape");

    const [call] = receiver.calls;
    const [, seconds, digest] = /^t=(\d+),v1=([\da-f]{64})$/.exec(call?.signature ?? "") ?? [];
    const expected = createHmac("sha256", secret ?? "").update(`${seconds}.${call?.body}`);
    expect(digest).toBe(expected.digest("hex"));
    expect(JSON.parse(call?.body ?? "{}")).toMatchObject({ type: "notice.raised", threshold: "10.00" });

    await page.getByRole("button", { name: "Mark as read" }).click();
    await page.getByRole("button", { name: "Mark as read" }).waitFor({ state: "detached" });
    expect([await notice.count(), receiver.calls.length]).toEqual([1, 1]);
    expect(catcher.mails.filter(({ to }) => to.includes(MAILED))).toHaveLength(1);
  });
  await receiver.stop();
});

test("a rule is edited, paused, which ends its notices, resumed and deleted", async () => {
  await visit(`/console/accounts/${gateway.accountId}/notices`, async (page) => {
    await choose(page, "Pause");
    await page.getByText("paused", { exact: true }).waitFor();
    await page.getByText("still crossed").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("USD").fill("2.50");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("less than $2.50 is available").waitFor();
    await choose(page, "Resume");
    await page.getByText("paused", { exact: true }).waitFor({ state: "detached" });
    await choose(page, "Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No rule yet").waitFor();
    await page
      .getByRole("table", { name: "Notices", exact: true })
      .getByText(/below \$10\.00/)
      .waitFor();
  });
});

test("health shows an upstream whose circuit failures have opened, its recovery, and its failed attempts", async () => {
  const { upstream } = gateway;
  upstream.on("chat", answer({ status: 500, body: "{}" }));
  while ((await openCircuits()) === 0) await sendRequest();
  await visit("/console/operator/health", async (page) => {
    await untilTitled(page, "Health");
    await page.getByText(/^1 of \d+ circuits open$/).waitFor();
    upstream.on("chat", answerWith());
    while ((await openCircuits()) > 0) await sendRequest();
    const row = page.getByRole("row", { name: /scripted-openai/ });
    await row.getByText("closed").waitFor();
    // Attempts of the last 5 minutes are published every 15 s.
    await row.getByText(/^[1-9]\d* of \d+ · [\d.]+%$/).waitFor();
    await page.getByText(/^scripted-openai: [1-9]\d* of \d+ attempts failed$/).waitFor();
    expect(await page.getByText("all well").count()).toBe(0);
  });
});

async function openCircuits(): Promise<number> {
  const { upstreams } = await person.call("GET", "/operator/health");
  return upstreams.filter(({ circuit }: { circuit: string }) => circuit !== "closed").length;
}

test("an audit that the operator starts ends with a result for each invariant", async () => {
  await visit("/console/operator/audit", async (page) => {
    await page.getByText("Not checked yet").waitFor();
    await page.getByRole("button", { name: "Run now" }).click();
    await page.getByText("all hold").waitFor();
    const lines = page.getByRole("table", { name: "Invariants" }).getByRole("row");
    expect(await lines.filter({ hasText: "holds" }).count()).toBe((await lines.count()) - 1);
  });
});

const BACKGROUNDS = { light: "rgb(250, 248, 245)", dark: "rgb(23, 20, 18)" } as const;

test("a chosen theme survives a reload, and without a choice the system's theme is followed", async () => {
  await visit("/console/profile", async (page) => {
    const untilDrawn = (theme: keyof typeof BACKGROUNDS) =>
      page.waitForFunction(
        (colour) => getComputedStyle(document.body).backgroundColor === colour,
        BACKGROUNDS[theme],
      );
    const chooseTheme = async (name: string) => {
      await page.getByRole("complementary").getByText(EMAIL).click();
      await page.getByRole("button", { name, exact: true }).click();
      await page.keyboard.press("Escape");
    };
    await untilDrawn("light");
    await chooseTheme("dark");
    await untilDrawn("dark");
    await page.reload();
    await untilTitled(page, "Profile");
    await untilDrawn("dark");
    await chooseTheme("system");
    await untilDrawn("light");
    await page.emulateMedia({ colorScheme: "dark" });
    await untilDrawn("dark");
    await chooseTheme("light");
    await untilDrawn("light");
  });
});
