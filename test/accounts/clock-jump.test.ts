import { afterAll, afterEach, beforeAll, expect, setSystemTime, test } from "bun:test";
import { eq } from "drizzle-orm";
import { COMMAND_LINE } from "../../src/accounts/audit-trail.ts";
import { mintInvitationToken } from "../../src/accounts/people/invitation-links.ts";
import { createOperator } from "../../src/accounts/people/operators.ts";
import { createPasswords } from "../../src/accounts/people/passwords.ts";
import { createBrowsers } from "../support/console-browser.ts";
import { openTestConsole, type TestConsole } from "../support/test-console.ts";

const DAY_MS = 86_400_000;
const PASSWORD = "correct horse battery";

let console: TestConsole;
let open: ReturnType<typeof createBrowsers>;
beforeAll(async () => {
  console = await openTestConsole();
  const { parts } = console.gateway.tollgate.console;
  const { settings } = parts;
  open = createBrowsers({
    ...parts,
    settings: { ...settings, publicUrl: settings.publicUrl, signUp: "open" },
    signUps: { ...parts.signUps, policy: () => "open" },
  });
});
afterEach(() => void setSystemTime());
afterAll(() => console.stop());

const jump = (ms: number) => void setSystemTime(Date.now() + ms);

async function signUp() {
  const browser = open();
  const email = `${Bun.randomUUIDv7()}@example.com`;
  await browser.call("POST", "/sign-up", { name: "Ada", email, password: PASSWORD });
  return { browser, email };
}

test.each([
  ["ahead", DAY_MS],
  ["back", -DAY_MS],
])("after a jump of a day %s a session goes on, and its password must be given again", async (_way, ms) => {
  const { browser } = await signUp();
  expect((await browser.call("GET", "/me")).json).toMatchObject({ confirmed: true });
  jump(ms);
  expect((await browser.call("GET", "/me")).json).toMatchObject({ confirmed: false });
  const confirmed = await browser.call("POST", "/me/confirm", { password: PASSWORD });
  expect(confirmed.status).toBe(200);
  expect((await browser.call("GET", "/me")).json).toMatchObject({ confirmed: true });
  const { items } = (await browser.call("GET", "/me/sessions")).json;
  expect(items).toHaveLength(1);
  expect(Date.parse(items[0].last_seen_at)).toBeLessThanOrEqual(Date.now());
});

test("a session that was opened by a clock a year ahead is none once the clock is right", async () => {
  jump(365 * DAY_MS);
  const { browser } = await signUp();
  expect((await browser.call("GET", "/me")).status).toBe(200);
  setSystemTime();
  expect((await browser.call("GET", "/me")).status).toBe(401);
});

test.each([
  ["ahead", DAY_MS],
  ["back", -DAY_MS],
])("after a jump of a day %s an operator acts inside no account any more", async (_way, ms) => {
  const email = `${Bun.randomUUIDv7()}@example.com`;
  const parts = { database: console.parts.database, passwords: createPasswords() };
  const { oneTimePassword: current } = await createOperator(parts, { email }, COMMAND_LINE);
  const browser = open();
  await browser.call("POST", "/sign-in", { email, password: current });
  await browser.call("POST", "/me/password", { current, password: PASSWORD });
  const account = await console.newAccount();
  const act = await browser.call("POST", `/operator/accounts/${account.id}/act`, { reason: "help" });
  expect(act.status).toBe(200);
  expect((await browser.call("GET", `/accounts/${account.id}/keys`)).status).toBe(200);
  jump(ms);
  expect((await browser.call("GET", "/me")).json.acting).toBeNull();
  expect((await browser.call("GET", `/accounts/${account.id}/keys`)).status).toBe(404);
});

test("an invitation of today is accepted after a jump of a day ahead and back", async () => {
  const { browser } = await signUp();
  const { accounts, person } = (await browser.call("GET", "/me")).json;
  const { database } = console.parts;
  const isPerson = eq(database.tables.people.id, person.id);
  await database.db.update(database.tables.people).set({ emailVerified: true }).where(isPerson);
  const { id: account } = accounts[0];
  for (const ms of [DAY_MS, -2 * DAY_MS]) {
    await browser.call("POST", "/me/confirm", { password: PASSWORD });
    const email = `${Bun.randomUUIDv7()}@example.com`;
    const invited = await browser.call("POST", `/accounts/${account}/invitations`, { email, role: "viewer" });
    const token = await mintInvitationToken(console.parts.database, invited.json.id, Date.now());
    jump(ms);
    const shown = await open().call("GET", `/invitations/${token}`);
    expect([shown.status, shown.json.email]).toEqual([200, email]);
  }
});

test("a jump of the clock neither ends a throttle nor prolongs it", async () => {
  const { email } = await signUp();
  const browser = open();
  const guess = async () =>
    (await browser.call("POST", "/sign-in", { email, password: "wrong guess" })).status;
  for (let count = 0; count < 5; count++) expect(await guess()).toBe(401);
  for (const ms of [DAY_MS, -2 * DAY_MS]) {
    jump(ms);
    const refused = await browser.call("POST", "/sign-in", { email, password: PASSWORD });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 61);
  }
});
