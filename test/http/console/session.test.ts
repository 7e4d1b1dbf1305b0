import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { COMMAND_LINE } from "../../../src/accounts/audit-trail.ts";
import { createIdentify } from "../../../src/accounts/people/identify.ts";
import { createOperator } from "../../../src/accounts/people/operators.ts";
import { createPasswords } from "../../../src/accounts/people/passwords.ts";
import { createSignIn } from "../../../src/accounts/people/sign-in.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { createBrowsers } from "../../support/console-browser.ts";
import { consoleForTests } from "./open-consoles.ts";

const PASSWORD = "correct horse battery";

describe.each(DIALECTS)("the sign-in on %s", (dialect) => {
  const console = consoleForTests(dialect);
  let open: ReturnType<typeof createBrowsers>;
  beforeAll(async () => {
    const { parts } = console.gateway.tollgate.console;
    open = createBrowsers({
      ...parts,
      settings: { ...parts.settings, publicUrl: parts.settings.publicUrl, signUp: "open" },
      signUps: { ...parts.signUps, policy: () => "open" },
    });
  });

  const signUp = async () => {
    const browser = open();
    const email = `${Bun.randomUUIDv7()}@example.com`;
    const answer = await browser.call("POST", "/sign-up", { name: "Ada", email, password: PASSWORD });
    expect(answer.json).toMatchObject({ person: { email } });
    return { browser, email };
  };

  test("a person signs up, owns an account and reads itself", async () => {
    const { browser, email } = await signUp();
    const me = await browser.call("GET", "/me");
    expect(me.json).toMatchObject({
      person: { name: "Ada", email, email_verified: false, is_operator: false },
      must_change_password: false,
      confirmed: true,
      accounts: [{ state: "active", role: "owner" }],
      acting: null,
    });
    expect(browser.lastSetCookie).toMatch(/; Path=\/console; HttpOnly; SameSite=Lax$/);
  });

  test("an invited person signs up into the account that invited it, and gets none of its own", async () => {
    const { id: accountId } = await console.newAccount();
    const owner = await console.newMember(accountId, "owner");
    const email = `${Bun.randomUUIDv7()}@example.com`;
    const invited = await console.call(owner, "POST", `/accounts/${accountId}/invitations`, {
      email,
      role: "developer",
    });
    const invitation = new URL(invited.json.link).searchParams.get("token");
    const browser = open();
    const given = { name: "Ada", email, password: PASSWORD, invitation };
    expect((await browser.call("POST", "/sign-up", given)).json).toMatchObject({ person: { email } });
    const { json } = await browser.call("GET", "/me");
    expect(json.accounts).toMatchObject([{ id: accountId, role: "developer" }]);
    const again = { ...given, name: "Bob" };
    expect((await open().call("POST", "/sign-up", again)).status).toBe(404);
  });

  test("a wrong password and an unknown e-mail are answered alike", async () => {
    const { email } = await signUp();
    const browser = open();
    const wrong = await browser.call("POST", "/sign-in", { email, password: "wrong password" });
    const unknown = await browser.call("POST", "/sign-in", {
      email: "nobody@example.com",
      password: PASSWORD,
    });
    expect(wrong.status).toBe(401);
    expect(wrong.json.error.code).toBe("invalid_credentials");
    expect(unknown.json).toEqual(wrong.json);
    expect(browser.cookie).toBe("");
  });

  test("an operator with a one-time password can only change it", async () => {
    const { database } = console.parts;
    const parts = { database, passwords: createPasswords() };
    const operator = await createOperator(parts, { email: "operator@localhost" }, COMMAND_LINE);
    const browser = open();
    const given = { email: "operator@localhost", password: operator.oneTimePassword };
    const signedIn = await browser.call("POST", "/sign-in", given);
    expect(signedIn.json).toMatchObject({ must_change_password: true, person: { is_operator: true } });
    expect((await browser.call("GET", "/operator/accounts")).status).toBe(403);
    const before = browser.cookie;
    const change = { current: operator.oneTimePassword, password: PASSWORD };
    expect((await browser.call("POST", "/me/password", change)).status).toBe(200);
    expect(browser.cookie).not.toBe(before);
    expect((await browser.call("GET", "/me")).json).toMatchObject({ must_change_password: false });
    expect((await browser.call("GET", "/operator/accounts")).status).not.toBe(403);
  });

  test("a sign-in ends the session that the browser had, and opens one with another token", async () => {
    const { browser, email } = await signUp();
    const planted = browser.cookie;
    await browser.call("POST", "/sign-in", { email, password: PASSWORD });
    expect(browser.cookie).not.toBe(planted);
    const thief = open();
    thief.cookie = planted;
    expect((await thief.call("GET", "/me")).json.error.code).toBe("not_authenticated");
    expect((await browser.call("GET", "/me/sessions")).json.items).toHaveLength(1);
  });

  test("a person lists its sessions, ends one, and ends the others", async () => {
    const { browser, email } = await signUp();
    const [second, third] = [open(), open()];
    for (const each of [second, third]) await each.call("POST", "/sign-in", { email, password: PASSWORD });
    const { items } = (await browser.call("GET", "/me/sessions")).json;
    expect(items).toHaveLength(3);
    const own = items.find((each: { current: boolean }) => each.current);
    expect(own).toMatchObject({ address: browser.address, agent: "Test browser" });
    const other = items.find((each: { address: string }) => each.address === second.address);
    expect((await browser.call("DELETE", `/me/sessions/${other.id}`)).status).toBe(200);
    expect((await browser.call("DELETE", `/me/sessions/${other.id}`)).status).toBe(404);
    expect((await second.call("GET", "/me")).status).toBe(401);
    expect((await browser.call("POST", "/me/sessions/end-others", {})).json).toEqual({ ended: 1 });
    expect((await third.call("GET", "/me")).status).toBe(401);
    expect((await browser.call("GET", "/me")).status).toBe(200);
    const stranger = (await signUp()).browser;
    expect((await stranger.call("DELETE", `/me/sessions/${own.id}`)).status).toBe(404);
  });

  test("a person who signs out has no cookie and no session", async () => {
    const { browser } = await signUp();
    const { cookie } = browser;
    expect((await browser.call("POST", "/sign-out")).status).toBe(200);
    expect(browser.lastSetCookie).toStartWith("tollgate.session=; Max-Age=0; Path=/console");
    browser.cookie = cookie;
    expect((await browser.call("GET", "/me")).json.error.code).toBe("not_authenticated");
  });

  test("a session that has expired is answered not_authenticated", async () => {
    const { browser } = await signUp();
    const { db, tables } = console.parts.database;
    const isOwn = eq(tables.sessions.ipAddress, browser.address);
    await db
      .update(tables.sessions)
      .set({ expiresAt: new Date(Date.now() - 1) })
      .where(isOwn);
    const answer = await browser.call("GET", "/me");
    expect(answer.status).toBe(401);
    expect(answer.json.error.code).toBe("not_authenticated");
  });

  test("a session is renewed once a day, with its cookie", async () => {
    const { browser } = await signUp();
    const { cookie } = browser;
    const { db, tables } = console.parts.database;
    const isOwn = eq(tables.sessions.ipAddress, browser.address);
    const expiresAt = new Date(Date.now() + 13 * 86_400_000 - 60_000);
    await db.update(tables.sessions).set({ expiresAt }).where(isOwn);
    expect((await browser.call("GET", "/me")).headers.getSetCookie()).toEqual([
      `tollgate.session=${cookie}; Max-Age=1209600; Path=/console; HttpOnly; SameSite=Lax`,
    ]);
    const [row] = await db.select().from(tables.sessions).where(isOwn);
    expect(row?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 13 * 86_400_000);
    expect((await browser.call("GET", "/me")).headers.getSetCookie()).toEqual([]);
  });

  test("a password counts as given for fifteen minutes, then it is asked for again", async () => {
    const { browser } = await signUp();
    const { db, tables } = console.parts.database;
    const isOwn = eq(tables.sessions.ipAddress, browser.address);
    await db
      .update(tables.sessions)
      .set({ confirmedAtMs: Date.now() - 15 * 60_000 })
      .where(isOwn);
    const { accounts } = (await browser.call("GET", "/me")).json;
    const path = `/accounts/${accounts[0].id}/keys`;
    const asked = await browser.call("POST", path, { name: "k" });
    expect(asked.status).toBe(403);
    expect(asked.headers.get("x-tollgate-confirm")).toBe("password");
    const wrong = await browser.call("POST", "/me/confirm", { password: "wrong password" });
    expect(wrong.json.error.code).toBe("invalid_credentials");
    expect((await browser.call("POST", "/me/confirm", { password: PASSWORD })).status).toBe(200);
    expect((await browser.call("GET", "/me")).json.confirmed).toBe(true);
    expect((await browser.call("POST", path, { name: "k" })).status).toBe(200);
  });

  test("a person makes five accounts a minute", async () => {
    const { browser } = await signUp();
    const statuses: number[] = [];
    for (let index = 0; index < 7; index += 1) {
      const name = `Acme ${Bun.randomUUIDv7()}`;
      statuses.push((await browser.call("POST", "/accounts", { name })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });

  test("a password is guessed five times from an address, then retry-after is answered", async () => {
    const { email } = await signUp();
    const browser = open();
    const statuses: number[] = [];
    for (let index = 0; index < 12; index += 1) {
      statuses.push((await browser.call("POST", "/sign-in", { email, password: `wrong ${index}` })).status);
    }
    expect(statuses).toEqual([...Array<number>(5).fill(401), ...Array<number>(7).fill(429)]);
    const last = await browser.call("POST", "/sign-in", { email, password: PASSWORD });
    expect(last.json.error.code).toBe("rate_limit_exceeded");
    expect(Number(last.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    // Somebody else with the right password is not locked out.
    expect((await open().call("POST", "/sign-in", { email, password: PASSWORD })).status).toBe(200);
  });

  test("a person changes its name, and nothing else about itself", async () => {
    const { browser, email } = await signUp();
    const renamed = await browser.call("PATCH", "/me", { name: "Grace" });
    expect(renamed.json).toMatchObject({ name: "Grace", email, is_operator: false });
    await browser.call("PATCH", "/me", { name: "Grace", is_operator: true, email: "other@example.com" });
    expect((await browser.call("GET", "/me")).json.person).toMatchObject({ email, is_operator: false });
    expect((await browser.call("PATCH", "/me", { name: " " })).status).toBe(422);
    expect((await browser.call("PATCH", "/me", { name: "a\u0000b" })).status).toBe(422);
  });

  test("behind https the cookie is Secure, by the public URL alone", async () => {
    const { parts } = console.gateway.tollgate.console;
    const publicUrl = "https://console.test";
    const { database, now } = parts;
    const passwords = createPasswords();
    const signIn = createSignIn({ database, passwords, publicUrl: () => publicUrl, now });
    const behind = createBrowsers({
      ...parts,
      settings: { ...parts.settings, publicUrl },
      credentials: { ...parts.credentials, signIn },
      identify: createIdentify({ database, publicUrl: () => publicUrl, now, onFault: () => undefined }),
    });
    const { email } = await signUp();
    const browser = behind();
    await browser.call("POST", "/sign-in", { email, password: PASSWORD });
    expect(browser.lastSetCookie).toMatch(/^__Secure-tollgate\.session=.*; HttpOnly; Secure; SameSite=Lax$/);
    expect((await browser.call("GET", "/me")).status).toBe(200);
  });
});
