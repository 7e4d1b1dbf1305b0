import { beforeAll, describe, expect, test } from "bun:test";
import type { Database } from "../../../src/db/database.ts";
import { NO_SIGN_IN_RULES, type SignInRules } from "../../../src/domain/sign-in-rules.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { type ConsoleBrowser, createBrowsers } from "../../support/console-browser.ts";
import { createSoftwarePasskey, type Dishonest } from "../../support/software-passkey.ts";
import { consoleForTests } from "./open-consoles.ts";

const ORIGIN = "http://localhost:8080";

describe.each(DIALECTS)("passkeys on %s", (dialect) => {
  const console = consoleForTests(dialect);
  const now: { rules: SignInRules } = { rules: NO_SIGN_IN_RULES };
  /** Runs after each transaction of passkeys. */
  let afterTransaction: () => Promise<unknown> = async () => undefined;
  let open: ReturnType<typeof createBrowsers>;
  beforeAll(() => {
    const { parts } = console.gateway.tollgate.console;
    const ruled = { rules: () => now.rules, policy: () => "open" as const };
    const { database } = parts;
    const transact: Database["transact"] = async (work) => {
      const result = await database.transact(work);
      await afterTransaction();
      return result;
    };
    open = createBrowsers({
      ...parts,
      settings: { ...parts.settings, publicUrl: ORIGIN },
      identify: parts.identify,
      signUps: { ...parts.signUps, ...ruled },
      passkeys: {
        ...{ ...parts.passkeys, ...ruled, publicUrl: () => ORIGIN },
        database: { ...database, transact },
      },
    });
  });

  /** A signed-in person with a passkey. */
  const newPerson = async () => {
    const browser = open();
    const email = `${Bun.randomUUIDv7()}@example.com`;
    await browser.call("POST", "/sign-up", { name: "Ada", email, password: "correct horse battery" });
    const passkey = createSoftwarePasskey(ORIGIN);
    const { json } = await browser.call("POST", "/me/passkeys/options");
    const registered = { name: "Laptop", response: passkey.register(json.options) };
    expect((await browser.call("POST", "/me/passkeys", registered)).status).toBe(200);
    return { browser, passkey, email, registered };
  };
  const options = async (browser: ConsoleBrowser, path = "/passkey/options") =>
    (await browser.call("POST", path)).json.options;

  test("a passkey signs its person in without a name, and counts as a fresh proof", async () => {
    const { passkey, email } = await newPerson();
    const browser = open();
    const asked = await options(browser);
    expect(asked).toMatchObject({ rpId: "localhost", userVerification: "required", allowCredentials: [] });
    const answer = await browser.call("POST", "/passkey/sign-in", { response: passkey.answer(asked) });
    expect(answer.json).toMatchObject({ person: { email } });
    expect((await browser.call("GET", "/me")).json).toMatchObject({ confirmed: true, person: { email } });
    const { json } = await browser.call("GET", "/me/sign-in-ways");
    expect(json.passkeys).toMatchObject([{ name: "Laptop", synced: false }]);
  });

  test.each<[string, Dishonest]>([
    ["of another origin", { origin: "https://evil.test" }],
    ["for another name", { rpId: "evil.test" }],
    ["without a check of the person", { isVerified: false }],
    ["with a count that goes back", { uses: 1 }],
    ["for another person", { userHandle: Buffer.from("somebody").toString("base64url") }],
  ])("an answer %s opens no session", async (_, lies) => {
    const { passkey } = await newPerson();
    const first = open();
    await first.call("POST", "/passkey/sign-in", { response: passkey.answer(await options(first)) });
    const browser = open();
    const response = passkey.answer(await options(browser), lies);
    const refused = await browser.call("POST", "/passkey/sign-in", { response });
    expect(refused.status).toBe(401);
    expect(browser.cookie).toBe("");
  });

  test("a challenge counts once, for what it was given, and an answer of a stranger's passkey never", async () => {
    const { browser: own, passkey } = await newPerson();
    const browser = open();
    const response = passkey.answer(await options(browser));
    expect((await browser.call("POST", "/passkey/sign-in", { response })).status).toBe(200);
    expect((await open().call("POST", "/passkey/sign-in", { response })).status).toBe(401);
    const proof = passkey.answer(await options(own, "/me/confirm-passkey/options"));
    expect((await open().call("POST", "/passkey/sign-in", { response: proof })).status).toBe(401);
    const made = passkey.answer({ challenge: Buffer.alloc(32).toString("base64url") });
    expect((await open().call("POST", "/passkey/sign-in", { response: made })).status).toBe(401);
    const stranger = createSoftwarePasskey(ORIGIN);
    const unknown = stranger.answer(await options(browser));
    expect((await open().call("POST", "/passkey/sign-in", { response: unknown })).status).toBe(401);
  });

  test("two sign-ins with one count are one", async () => {
    const { passkey } = await newPerson();
    const [one, other] = [open(), open()];
    const answers = [await options(one), await options(other)].map((each) =>
      passkey.answer(each, { uses: 7 }),
    );
    const statuses = await Promise.all(
      [one, other].map(async (browser, at) => {
        return (await browser.call("POST", "/passkey/sign-in", { response: answers[at] })).status;
      }),
    );
    expect(statuses.toSorted()).toEqual([200, 401]);
  });

  test("a proof counts in the session that asked, and of its own person alone", async () => {
    const { browser: ada, passkey } = await newPerson();
    const { browser: bob, passkey: other } = await newPerson();
    const asked = await options(ada, "/me/confirm-passkey/options");
    const foreign = { response: other.answer(asked) };
    expect((await ada.call("POST", "/me/confirm-passkey", foreign)).status).toBe(401);
    const again = { response: passkey.answer(await options(ada, "/me/confirm-passkey/options")) };
    expect((await bob.call("POST", "/me/confirm-passkey", again)).status).toBe(401);
    const right = { response: passkey.answer(await options(ada, "/me/confirm-passkey/options")) };
    expect((await ada.call("POST", "/me/confirm-passkey", right)).status).toBe(200);
  });

  test("a registration counts once and in its own session; a passkey belongs to one person", async () => {
    const { browser, registered } = await newPerson();
    expect((await browser.call("POST", "/me/passkeys", registered)).status).toBe(422);
    const { browser: bob } = await newPerson();
    const passkey = createSoftwarePasskey(ORIGIN);
    const response = passkey.register(await options(browser, "/me/passkeys/options"));
    expect((await bob.call("POST", "/me/passkeys", { name: "Stolen", response })).status).toBe(422);
    const careless = passkey.register(await options(browser, "/me/passkeys/options"), { isVerified: false });
    expect(
      (await browser.call("POST", "/me/passkeys", { name: "Careless", response: careless })).status,
    ).toBe(422);
  });

  test("registrations that were begun together do not pass the bound of passkeys together", async () => {
    const { browser } = await newPerson();
    const begun: object[] = [];
    for (let at = 0; at < 21; at += 1) {
      begun.push(createSoftwarePasskey(ORIGIN).register(await options(browser, "/me/passkeys/options")));
    }
    const statuses: number[] = [];
    for (const response of begun) {
      statuses.push((await browser.call("POST", "/me/passkeys", { name: "One", response })).status);
    }
    expect(statuses.slice(18)).toEqual([200, 409, 409]);
  });

  test("a removed passkey takes the sessions of passkeys with it, and leaves the one that removes it", async () => {
    const { browser, passkey } = await newPerson();
    const thief = open();
    const response = passkey.answer(await options(thief));
    expect((await thief.call("POST", "/passkey/sign-in", { response })).status).toBe(200);
    const { json } = await browser.call("GET", "/me/sign-in-ways");
    expect((await browser.call("DELETE", `/me/passkeys/${json.passkeys[0].id}`)).status).toBe(200);
    expect((await thief.call("GET", "/me")).status).toBe(401);
    expect((await browser.call("GET", "/me")).status).toBe(200);
  });

  test("a passkey that is removed between its use and its session leaves no session", async () => {
    const { browser, passkey } = await newPerson();
    const other = open();
    const response = passkey.answer(await options(other));
    const read = async () => (await browser.call("GET", "/me/sign-in-ways")).json.passkeys[0];
    afterTransaction = async () => {
      const { last_used_at, id } = await read();
      if (last_used_at === null) return;
      afterTransaction = async () => undefined;
      await browser.call("DELETE", `/me/passkeys/${id}`);
    };
    await other.call("POST", "/passkey/sign-in", { response });
    expect(await read()).toBeUndefined();
    expect((await other.call("GET", "/me")).status).toBe(401);
  });

  test("a removed passkey opens nothing, and where a provider is required none does", async () => {
    const { browser, passkey } = await newPerson();
    const { json } = await browser.call("GET", "/me/sign-in-ways");
    const other = open();
    now.rules = { ...NO_SIGN_IN_RULES, requiresProvider: true };
    expect((await other.call("POST", "/passkey/options")).status).toBe(403);
    now.rules = NO_SIGN_IN_RULES;
    const response = passkey.answer(await options(other));
    expect((await browser.call("DELETE", `/me/passkeys/${json.passkeys[0].id}`)).status).toBe(200);
    expect((await other.call("POST", "/passkey/sign-in", { response })).status).toBe(401);
  });
});
