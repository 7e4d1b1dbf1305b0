import { beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { createIdentify } from "../../../src/accounts/people/identify.ts";
import { requireSecondFactor } from "../../../src/accounts/second-factor/second-factor.ts";
import { codeOf } from "../../../src/accounts/second-factor/totp.ts";
import { NO_SIGN_IN_RULES, type SignInRules } from "../../../src/domain/sign-in-rules.ts";
import type { GatewayError } from "../../../src/errors.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { type ConsoleBrowser, createBrowsers } from "../../support/console-browser.ts";
import { consoleForTests } from "./open-consoles.ts";

const PASSWORD = "correct horse battery";
const STEP_MS = 30_000;

describe.each(DIALECTS)("the second factor on %s", (dialect) => {
  const console = consoleForTests(dialect);
  // Ahead of the machine, and still: no code changes while a test runs.
  const clock = { ms: Date.now() + 300_000 };
  const now: { rules: SignInRules } = { rules: NO_SIGN_IN_RULES };
  let open: ReturnType<typeof createBrowsers>;
  beforeAll(() => {
    const { parts } = console.gateway.tollgate.console;
    const { database } = console.parts;
    const timed = { now: () => clock.ms, rules: () => now.rules };
    const { publicUrl } = parts.settings;
    open = createBrowsers({
      ...parts,
      settings: {
        ...parts.settings,
        publicUrl,
        get signIn() {
          return now.rules;
        },
      },
      identify: createIdentify({
        database,
        publicUrl: () => publicUrl,
        onFault: () => undefined,
        ...timed,
        now: Date.now,
      }),
      now: () => clock.ms,
      credentials: { ...parts.credentials, ...timed },
      signUps: { ...parts.signUps, policy: () => "open" },
    });
  });

  const signUp = async () => {
    const [browser, email] = [open(), `${Bun.randomUUIDv7()}@example.com`];
    const { json } = await browser.call("POST", "/sign-up", { name: "Ada", email, password: PASSWORD });
    return { browser, email, id: json.person.id as string };
  };
  /** The code of the app at the clock of the test. */
  const codeNow = (secret: Uint8Array) => codeOf(secret, Math.floor(clock.ms / STEP_MS));
  /** A code that the app shows neither now nor a step before or after. */
  const wrongCode = (secret: Uint8Array) => {
    const step = Math.floor(clock.ms / STEP_MS);
    const shown = [step - 1, step, step + 1].map((each) => codeOf(secret, each));
    const codes = ["000000", "000001", "000002", "000003"];
    return codes.find((code) => !shown.includes(code)) ?? expect.unreachable();
  };
  const setUp = async (browser: ConsoleBrowser) => {
    const begun = await browser.call("POST", "/me/second-factor");
    const secret = readBase32(begun.json.secret);
    const wrong = { code: wrongCode(secret) };
    expect((await browser.call("POST", "/me/second-factor/confirm", wrong)).status).toBe(401);
    const { json } = await browser.call("POST", "/me/second-factor/confirm", { code: codeNow(secret) });
    return { secret, recovery: json.recovery_codes as string[] };
  };
  const signIn = (email: string, code?: string, browser = open()) =>
    browser.call("POST", "/sign-in", { email, password: PASSWORD, ...(code ? { code } : {}) });

  test("the password alone opens no session; with a code it does, and each code counts once", async () => {
    const { browser, email } = await signUp();
    const other = open();
    await signIn(email, undefined, other);
    const { secret, recovery } = await setUp(browser);
    expect(recovery).toHaveLength(10);
    // The set-up ends sessions that the password alone opened.
    expect((await other.call("GET", "/me")).status).toBe(401);
    const asked = await signIn(email);
    expect(asked.status).toBe(401);
    expect(asked.headers.get("x-tollgate-confirm")).toBe("code");
    expect(asked.headers.getSetCookie()).toEqual([]);
    // The code of the set-up was used.
    expect((await signIn(email, codeNow(secret))).status).toBe(401);
    clock.ms += STEP_MS;
    const twice = await Promise.all([signIn(email, codeNow(secret)), signIn(email, codeNow(secret))]);
    expect(twice.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    const wrongPassword = { email, password: "wrong password", code: codeNow(secret) };
    const wrong = await open().call("POST", "/sign-in", wrongPassword);
    expect([wrong.status, wrong.headers.get("x-tollgate-confirm")]).toEqual([401, null]);
  });

  test("a recovery code opens a session once", async () => {
    const { browser, email, id } = await signUp();
    const { recovery } = await setUp(browser);
    const [code = ""] = recovery;
    const twice = await Promise.all([signIn(email, code.toLowerCase()), signIn(email, code)]);
    expect(twice.map(({ status }) => status).toSorted()).toEqual([200, 401]);
    expect((await browser.call("GET", "/me/sign-in-ways")).json.second_factor).toEqual({ recovery_codes: 9 });
    const { db, tables } = console.parts.database;
    const [row] = await db.select().from(tables.secondFactors).where(eq(tables.secondFactors.personId, id));
    for (const each of recovery) expect(JSON.stringify(row)).not.toContain(each.replaceAll("-", ""));
    const renewed = await browser.call("POST", "/me/second-factor/recovery-codes");
    expect((await signIn(email, recovery[1])).status).toBe(401);
    expect((await signIn(email, renewed.json.recovery_codes[1])).status).toBe(200);
  });

  test("ten wrong codes lock the app's codes for an hour, over all addresses; recovery codes still work", async () => {
    const { browser, email } = await signUp();
    const { secret, recovery } = await setUp(browser);
    clock.ms += STEP_MS;
    for (let guess = 0; guess < 10; guess += 1)
      expect((await signIn(email, wrongCode(secret))).status).toBe(401);
    expect((await signIn(email, codeNow(secret))).status).toBe(429);
    expect((await signIn(email, recovery[0])).status).toBe(200);
    expect((await signIn(email, codeNow(secret))).status).toBe(200);
  });

  test("of many guesses at once ten are looked at, wherever they come from", async () => {
    const { browser, id } = await signUp();
    const { secret } = await setUp(browser);
    clock.ms += STEP_MS;
    const guess = (code: string) =>
      requireSecondFactor(console.parts.database, { personId: id, code }, clock.ms).then(
        () => "accepted",
        (fault: GatewayError) => fault.kind,
      );
    const wrong = wrongCode(secret);
    const answers = await Promise.all(Array.from({ length: 30 }, () => guess(wrong)));
    expect(answers.toSorted()).toEqual([
      ...Array.from({ length: 20 }, () => "sign_in_throttled"),
      ...Array.from({ length: 10 }, () => "wrong_password"),
    ]);
    expect(await guess(codeNow(secret))).toBe("sign_in_throttled");
  });

  test("a fresh proof by password needs a code too", async () => {
    const { browser } = await signUp();
    const { secret } = await setUp(browser);
    clock.ms += STEP_MS;
    const asked = await browser.call("POST", "/me/confirm", { password: PASSWORD });
    expect(asked.headers.get("x-tollgate-confirm")).toBe("code");
    const given = { password: PASSWORD, code: codeNow(secret) };
    expect((await browser.call("POST", "/me/confirm", given)).status).toBe(200);
  });

  test("a new password is no fresh proof of a person with a second factor", async () => {
    const { browser } = await signUp();
    await setUp(browser);
    const { sessions } = console.parts.database.tables;
    await console.parts.database.db.update(sessions).set({ confirmedAtMs: clock.ms - 16 * 60_000 });
    const changed = { current: PASSWORD, password: "another password" };
    expect((await browser.call("POST", "/me/password", changed)).status).toBe(200);
    expect((await browser.call("DELETE", "/me/second-factor")).status).toBe(403);
  });

  test("where the file requires it, a person without one can only set it up, and nobody removes it", async () => {
    const { browser, email } = await signUp();
    now.rules = { ...NO_SIGN_IN_RULES, secondFactor: "everyone" };
    expect((await browser.call("GET", "/me")).json.must_set_up_second_factor).toBe(true);
    expect((await browser.call("GET", "/me/sessions")).status).toBe(403);
    await setUp(browser);
    expect((await browser.call("GET", "/me/sessions")).status).toBe(200);
    expect((await browser.call("DELETE", "/me/second-factor")).status).toBe(403);
    now.rules = NO_SIGN_IN_RULES;
    expect((await browser.call("DELETE", "/me/second-factor")).status).toBe(200);
    expect((await signIn(email)).status).toBe(200);
  });

  test("the secret of the app is in the database neither in the clear nor under another person's name", async () => {
    const { browser, id } = await signUp();
    const { secret } = await setUp(browser);
    const { db, tables } = console.parts.database;
    const isOwn = eq(tables.secondFactors.personId, id);
    const [row] = await db.select().from(tables.secondFactors).where(isOwn);
    const stored = Buffer.from(row?.secret ?? "", "base64");
    expect(stored.includes(secret)).toBe(false);
  });
});

function readBase32(text: string): Uint8Array {
  const bits = [...text].map((each) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(each).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Uint8Array.from(bytes, (each) => Number.parseInt(each, 2));
}
