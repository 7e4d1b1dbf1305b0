import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { COMMAND_LINE } from "../../../src/accounts/audit-trail.ts";
import { createOperator } from "../../../src/accounts/people/operators.ts";
import { createPasswords } from "../../../src/accounts/people/passwords.ts";
import type { Database } from "../../../src/db/database.ts";
import { createLocation, DIALECTS } from "../../accounts/temp-storage.ts";
import { type ConsoleBrowser, createBrowsers } from "../../support/console-browser.ts";
import { startMailCatcher } from "../../support/mail-catcher.ts";
import { startScriptedStripe, WEBHOOK_SECRET } from "../../support/scripted-stripe.ts";
import { openTestConsole } from "../../support/test-console.ts";

const PASSWORDS = {
  first: "correct horse battery",
  later: "staple of another horse",
  wrong: "a wrong guess of mine",
};
const STRIPE_KEY = "sk_test_secret_of_ours";
const REPEATED = { "idempotency-key": "the-name-of-one-creation" };

/** What people and programs were shown or have sent, by name. */
type Secrets = Map<string, string>;

describe.each(DIALECTS)("the database in %s", (dialect) => {
  test("holds no secret that anybody was shown or has sent, and neither does the log", async () => {
    await using world = await openWorld(dialect);
    const secrets = await makeOneOfEverything(world);
    expect(secrets.size).toBeGreaterThanOrEqual(21);
    const { log } = world.console.gateway;
    const stored = await readEverything(world.console.parts.database);
    // The reader sees what is there: an address and a name of the same requests.
    for (const known of ["ann@example.com", "a key of Ann"]) expect(stored).toContain(known);
    for (const [name, secret] of secrets) {
      for (const form of [secret, Buffer.from(secret).toString("hex"), btoa(secret).replace(/=+$/, "")]) {
        expect([name, stored.includes(form), log.text().includes(form)]).toEqual([name, false, false]);
      }
    }
  });
});

/** A console whose mails arrive at a catcher and whose payments go to a scripted Stripe. */
async function openWorld(dialect: (typeof DIALECTS)[number]) {
  const [mails, { location, drop }] = await Promise.all([startMailCatcher(), createLocation(dialect)]);
  const stripe = startScriptedStripe();
  const publicUrl = "http://console.test";
  const console = await openTestConsole({
    database: location,
    config: {
      console: {
        publicUrl,
        trustedProxies: [],
        mail: { url: mails.url, from: "noreply@tollgate.example" },
        stripe: { secretKey: STRIPE_KEY, webhookSecret: WEBHOOK_SECRET },
      },
    },
  });
  const { parts } = console;
  const payments = { secretKey: STRIPE_KEY, webhookSecret: WEBHOOK_SECRET, apiBase: stripe.url };
  const open = createBrowsers({
    ...parts,
    identify: console.gateway.tollgate.console.parts.identify,
    settings: { ...parts.settings, signUp: "open", stripe: payments },
    signUps: { ...parts.signUps, policy: () => "open" },
  });
  return {
    console,
    mails,
    open,
    async [Symbol.asyncDispose]() {
      await console.stop();
      await Promise.all([mails.stop(), stripe.stop()]);
      await drop();
    },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function makeOneOfEverything(world: World): Promise<Secrets> {
  const secrets: Secrets = new Map();
  const keep = (name: string, secret: unknown) => {
    if (typeof secret !== "string" || secret.length < 10) throw new Error(`There is no secret of ${name}`);
    secrets.set(name, secret);
  };
  for (const [name, password] of Object.entries(PASSWORDS)) keep(`${name} password`, password);
  keep("Stripe", STRIPE_KEY);
  keep("Stripe's webhooks", WEBHOOK_SECRET);
  keep("idempotency key", REPEATED["idempotency-key"]);
  const { browser, accountId } = await becomeOwner(world, keep);
  await createKeys(world, browser, { accountId, keep });
  await askForMails(world, browser, { accountId, keep });
  await workAsOperator(world, keep);
  return secrets;
}

type Keep = (name: string, secret: unknown) => void;

/** Signs up, fails to sign in, signs in, and changes the password. */
async function becomeOwner({ open, mails }: World, keep: Keep) {
  const browser = open();
  const email = "ann@example.com";
  const given = { name: "Ann", email, account_name: "ann", password: PASSWORDS.first };
  await post(browser, "/sign-up", given);
  keepCookie(keep, "signed-up session", browser);
  await browser.call("POST", "/sign-in", { email, password: PASSWORDS.wrong });
  await post(browser, "/sign-in", { email, password: PASSWORDS.first });
  keepCookie(keep, "signed-in session", browser);
  await post(browser, "/me/password", { current: PASSWORDS.first, password: PASSWORDS.later });
  keepCookie(keep, "session after the change", browser);
  await post(browser, "/me/email-verification", {});
  keep("verification", await tokenOf(mails, "verify"));
  const { accounts } = (await browser.call("GET", "/me")).json;
  return { browser, accountId: String(accounts[0].id) };
}

interface Place {
  readonly accountId: string;
  readonly keep: Keep;
}

/** Creates, rotates and uses a key, and creates a management key, a shared link, a rule and a checkout. */
async function createKeys({ console }: World, browser: ConsoleBrowser, { accountId, keep }: Place) {
  const root = `/accounts/${accountId}`;
  const issued = await post(browser, `${root}/keys`, { name: "a key of Ann" }, REPEATED);
  keep("key", issued.secret);
  const again = await post(browser, `${root}/keys`, { name: "a key of Ann" }, REPEATED);
  expect(again.secret).toBe(issued.secret);
  const rotated = await post(browser, `${root}/keys/${issued.key.id}/rotate`, {
    version: issued.key.version,
  });
  keep("rotated key", rotated.secret);
  for (const secret of [issued.secret, `${rotated.secret}x`]) await ask(console.gateway.url, secret);
  const management = { name: "program", role: "owner" };
  const program = await post(browser, `${root}/management-keys`, management, {
    "idempotency-key": "m-key-1",
  });
  keep("management key", program.secret);
  const authorization = { authorization: `Bearer ${program.secret}` };
  const made = await post(browser, `${root}/keys`, { name: "by a program" }, authorization);
  keep("key made by a program", made.secret);
  const expires_at = new Date(Date.now() + 86_400_000).toISOString();
  const { url } = await post(browser, `${root}/links`, { shows_names: false, expires_at });
  keep("shared link", String(url).split("/").at(-1));
  expect((await browser.call("GET", `/shared/${String(url).split("/").at(-1)}`)).status).toBe(200);
  const rule = {
    kind: "balance_below",
    threshold: "1",
    emails: [],
    webhook_url: "https://hook.example.com/",
  };
  const { id } = await post(browser, `${root}/notice-rules`, rule);
  keep("webhook", (await browser.call("GET", `${root}/notice-rules/${id}/secret`)).json.secret);
  const checkout = await post(browser, `${root}/wallet/checkouts`, { amount_usd: "10" });
  keep("page of a checkout", checkout.url);
}

/** An invitation, and a new password by mail. */
async function askForMails({ mails, open }: World, browser: ConsoleBrowser, { accountId, keep }: Place) {
  const verification = await tokenOf(mails, "verify");
  await post(browser, "/email/verify", { token: verification });
  const invited = { email: "bob@example.com", role: "viewer" };
  await post(browser, `/accounts/${accountId}/invitations`, invited);
  const invitation = await tokenOf(mails, "accept");
  keep("invitation", invitation);
  const guest = open();
  expect((await guest.call("GET", `/invitations/${invitation}`)).status).toBe(200);
  await post(guest, "/sign-up", {
    ...invited,
    role: undefined,
    name: "Bob",
    password: PASSWORDS.first,
    invitation,
  });
  keepCookie(keep, "invited session", guest);
  await post(guest, "/password/forgot", { email: invited.email });
  const reset = await tokenOf(mails, "reset");
  keep("reset", reset);
  const [, payload] = /^[^.]*\.([^.]+)\./.exec(reset) ?? [];
  if (payload) keep("payload of the reset", payload);
}

/** An operator signs in with a one-time password, creates codes and a management key. */
async function workAsOperator({ console, open }: World, keep: Keep) {
  const { database } = console.parts;
  const parts = { database, passwords: createPasswords() };
  const operator = await createOperator(parts, { email: "ops@example.com" }, COMMAND_LINE);
  keep("one-time password", operator.oneTimePassword);
  const browser = open();
  await post(browser, "/sign-in", { email: "ops@example.com", password: operator.oneTimePassword });
  await post(browser, "/me/password", { current: operator.oneTimePassword, password: PASSWORDS.first });
  keepCookie(keep, "operator's session", browser);
  const { codes } = await post(browser, "/operator/codes", { amount_usd: "5" }, REPEATED);
  keep("redeem code", codes[0].code);
  keep("redeem code without dashes", String(codes[0].code).replaceAll("-", ""));
  const key = await post(browser, "/operator/management-keys", { name: "platform" });
  keep("operator's management key", key.secret);
}

async function post(
  browser: ConsoleBrowser,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
) {
  const { status, json } = await browser.call("POST", path, body, headers);
  if (status >= 300) throw new Error(`${path} was answered ${status}: ${JSON.stringify(json)}`);
  return json;
}

/** The cookie is the token and its signature; either half alone must be stored nowhere. */
function keepCookie(keep: Keep, name: string, { cookie }: ConsoleBrowser): void {
  const [token, signature] = decodeURIComponent(cookie).split(".", 2);
  keep(`token of the ${name}`, token);
  keep(`signature of the ${name}`, signature);
}

async function tokenOf(mails: World["mails"], page: string): Promise<string> {
  const link = new RegExp(`/console/${page}\\?token=([^\\s"&<]+)`);
  const { text } = await mails.until((mail) => link.test(mail.text));
  return decodeURIComponent(link.exec(text)?.[1] ?? "");
}

async function ask(url: string, secret: string): Promise<void> {
  const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] });
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  await (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })).text();
}

/** Every column of every table as text, also of those that no schema of ours names; of SQLite the files too. */
async function readEverything(database: Database): Promise<string> {
  if (database.dialect === "sqlite") {
    const { client, path } = database.sqlite;
    const tables = client
      .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all();
    expect(tables.length).toBeGreaterThan(25);
    const rows = tables.flatMap(({ name }) => client.query(`SELECT * FROM "${name}"`).values());
    const files = [path, `${path}-wal`].filter(existsSync).map((file) => readFileSync(file, "latin1"));
    return rows.flat().map(printColumn).concat(files).join("\n");
  }
  const { client } = database.postgres;
  const where = "table_schema NOT IN ('pg_catalog', 'information_schema')";
  const tables = await client.unsafe(
    `SELECT table_schema, table_name FROM information_schema.tables WHERE ${where}`,
  );
  expect(tables.length).toBeGreaterThan(25);
  const rows: unknown[] = [];
  for (const { table_schema, table_name } of tables) {
    rows.push(...(await client.unsafe(`SELECT * FROM "${table_schema}"."${table_name}"`)));
  }
  return rows
    .flatMap((row) => Object.values(row ?? {}))
    .map(printColumn)
    .join("\n");
}

function printColumn(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
