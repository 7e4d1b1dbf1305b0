import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { digestOf } from "../../../src/accounts/keys/key.ts";
import { createIdentify } from "../../../src/accounts/people/identify.ts";
import type { SignInProvider, SignInRules } from "../../../src/domain/sign-in-rules.ts";
import { DIALECTS } from "../../accounts/temp-storage.ts";
import { type ConsoleBrowser, createBrowsers } from "../../support/console-browser.ts";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OidcServer,
  type Subject,
  startOidcServer,
} from "../../support/oidc-server.ts";
import { consoleForTests } from "./open-consoles.ts";

const PASSWORD = "correct horse battery";
const HOUR_MS = 3_600_000;

describe.each(DIALECTS)("the sign-in at a provider on %s", (dialect) => {
  const console = consoleForTests(dialect);
  const rules: { now: SignInRules; signUp: "open" | "invited" | "closed" } = {
    now: { providers: [], requiresProvider: false, secondFactor: "none" },
    signUp: "invited",
  };
  let server: OidcServer;
  let open: ReturnType<typeof createBrowsers>;
  let publicUrl = "";

  const entry = (more: Partial<SignInProvider> = {}): SignInProvider => ({
    id: "real",
    name: "Real",
    issuer: server.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    scopes: ["openid", "email", "profile"],
    groupsClaim: "groups",
    rights: [],
    domains: undefined,
    sessionMs: 12 * HOUR_MS,
    rightsMs: undefined,
    confirmBy: "auth_time",
    rpInitiatedLogout: false,
    ...more,
  });
  const setRules = (more: Partial<SignInProvider> = {}, rest: Partial<SignInRules> = {}) => {
    rules.now = { providers: [entry(more)], requiresProvider: false, secondFactor: "none", ...rest };
  };

  beforeAll(async () => {
    const { parts } = console.gateway.tollgate.console;
    ({ publicUrl } = parts.settings);
    server = await startOidcServer([`${publicUrl}/console/api/oidc/real/callback`]);
    setRules();
    const ruled = { rules: () => rules.now, policy: () => rules.signUp };
    const settings = {
      ...parts.settings,
      publicUrl,
      get signIn() {
        return rules.now;
      },
    };
    open = createBrowsers({
      ...parts,
      settings,
      identify: createIdentify({
        database: console.parts.database,
        publicUrl: () => publicUrl,
        now: Date.now,
        rules: () => rules.now,
        onFault: () => undefined,
      }),
      credentials: { ...parts.credentials, ...ruled },
      signUps: { ...parts.signUps, ...ruled },
      passkeys: { ...parts.passkeys, ...ruled },
      providerSignIns: { ...parts.providerSignIns, ...ruled },
    });
  });
  afterAll(() => server.stop());

  const newSubject = (more: Partial<Subject> = {}): Subject => {
    const sub = Bun.randomUUIDv7();
    return { sub, email: `${sub}@example.com`, email_verified: true, name: "Ada", ...more };
  };
  /** Goes to the provider and back. Returns where the console leads. */
  const signIn = async (browser: ConsoleBrowser, subject: Subject, body: object = {}): Promise<string> => {
    server.subject = subject;
    const begun = await browser.call("POST", "/oidc/real", body);
    return answer(browser, begun.json.location);
  };
  const answer = async (browser: ConsoleBrowser, location: string): Promise<string> => {
    const back = await server.visit(location);
    const finished = await browser.call("GET", back.slice(`${publicUrl}/console/api`.length));
    expect(finished.status).toBe(303);
    return finished.headers.get("location") ?? "";
  };

  test("a person without an account here learns so, and gets no session", async () => {
    rules.signUp = "invited";
    const browser = open();
    expect(await signIn(browser, newSubject())).toBe("/console/sign-in?problem=no_account");
    expect(browser.cookie).toBe("");
  });

  test("where everybody may sign up, a person gets an account, and returns to it by the same identity", async () => {
    rules.signUp = "open";
    const [browser, subject] = [open(), newSubject()];
    expect(await signIn(browser, subject, { next: "/profile" })).toBe("/console/profile");
    const me = await browser.call("GET", "/me");
    expect(me.json).toMatchObject({
      person: { email: subject.email, email_verified: true, name: "Ada", is_operator: false },
      accounts: [{ role: "owner" }],
    });
    rules.signUp = "closed";
    const other = open();
    expect(await signIn(other, { ...subject, email: "another@example.com" })).toBe("/console/");
    expect((await other.call("GET", "/me")).json.person).toEqual(me.json.person);
    const [session] = (await other.call("GET", "/me/sessions")).json.items;
    expect(Date.parse(session.expires_at) - Date.now()).toBeLessThanOrEqual(12 * HOUR_MS);
  });

  test("two first sign-ins of one identity at once make one person with one account", async () => {
    rules.signUp = "open";
    const subject = newSubject();
    server.subject = subject;
    const begun: { browser: ConsoleBrowser; back: string }[] = [];
    for (const browser of [open(), open()]) {
      const { json } = await browser.call("POST", "/oidc/real", {});
      begun.push({ browser, back: await server.visit(json.location) });
    }
    const ends = await Promise.all(
      begun.map(async ({ browser, back }) => {
        const answered = await browser.call("GET", back.slice(`${publicUrl}/console/api`.length));
        return answered.headers.get("location");
      }),
    );
    expect(ends).toEqual(["/console/", "/console/"]);
    const read = ({ browser }: { browser: ConsoleBrowser }) => browser.call("GET", "/me");
    const [one, other] = await Promise.all(begun.map(read));
    expect(one?.json.accounts).toHaveLength(1);
    expect(other?.json).toEqual(one?.json);
  });

  test("an address that a person has here links nothing", async () => {
    rules.signUp = "open";
    const email = `${Bun.randomUUIDv7()}@example.com`;
    const victim = open();
    await victim.call("POST", "/sign-up", { name: "Victim", email, password: PASSWORD });
    const thief = open();
    expect(await signIn(thief, newSubject({ email }))).toBe("/console/sign-in?problem=address_taken");
    expect(thief.cookie).toBe("");
  });

  test("an invitation admits the identity of its address alone", async () => {
    rules.signUp = "invited";
    const { id } = await console.newAccount();
    const owner = await console.newMember(id, "owner");
    const email = `${Bun.randomUUIDv7()}@example.com`;
    const sent = await console.call(owner, "POST", `/accounts/${id}/invitations`, {
      email,
      role: "developer",
    });
    const invitation = new URL(sent.json.link).searchParams.get("token");
    const stranger = open();
    expect(await signIn(stranger, newSubject(), { invitation })).toContain("problem=invitation");
    const browser = open();
    expect(await signIn(browser, newSubject({ email }), { invitation })).toBe("/console/");
    expect((await browser.call("GET", "/me")).json.accounts).toMatchObject([{ id, role: "developer" }]);
    expect(await signIn(open(), newSubject({ email: "late@example.com" }), { invitation })).toContain(
      "invitation",
    );
  });

  test("a known person is led back to the invitation, and accepts it there", async () => {
    rules.signUp = "open";
    const subject = newSubject();
    await signIn(open(), subject);
    const { id } = await console.newAccount();
    const owner = await console.newMember(id, "owner");
    const invited = { email: subject.email, role: "viewer" };
    const sent = await console.call(owner, "POST", `/accounts/${id}/invitations`, invited);
    const invitation = new URL(sent.json.link).searchParams.get("token") ?? "";
    const browser = open();
    const at = await signIn(browser, subject, { invitation, next: "/accept" });
    expect(at).toBe(`/console/accept?token=${invitation}`);
    expect((await browser.call("POST", `/invitations/${invitation}/accept`)).status).toBe(200);
  });

  test("groups give roles, and a group that was left takes its role and keys with it", async () => {
    rules.signUp = "closed";
    const { id, name } = await console.newAccount();
    setRules({
      rights: [
        { group: "engineering", account: name, role: "developer" },
        { group: "leads", account: id, role: "owner" },
        { group: "platform", operator: true },
        { group: "engineering", account: "no such account", role: "owner" },
      ],
    });
    const [browser, subject] = [open(), newSubject()];
    await signIn(browser, { ...subject, groups: ["engineering"] });
    expect((await browser.call("GET", "/me")).json.accounts).toMatchObject([{ id, role: "developer" }]);
    const confirm = await browser.call("POST", `/accounts/${id}/keys`, { name: "mine" });
    expect(confirm.status).toBe(200);
    const former = open();
    former.cookie = browser.cookie;
    await signIn(browser, { ...subject, groups: ["leads", "platform", "engineering"] });
    expect((await browser.call("GET", "/me")).json).toMatchObject({
      person: { is_operator: true },
      accounts: [{ id, role: "owner" }],
    });
    // More rights end the earlier sessions.
    expect((await former.call("GET", "/me")).status).toBe(401);
    await signIn(browser, { ...subject, groups: [] });
    expect((await browser.call("GET", "/me")).json).toMatchObject({
      person: { is_operator: false },
      accounts: [],
    });
    const { db, tables } = console.parts.database;
    const [key] = await db.select().from(tables.apiKeys).where(eq(tables.apiKeys.accountId, id));
    expect(key?.revokedAtMs).not.toBeNull();
    const { auditEntries } = tables;
    const trail = await db.select().from(auditEntries).where(eq(auditEntries.accountId, id));
    expect(trail.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["member.added", "member.role_changed", "member.removed", "key.revoked"]),
    );
    setRules();
  });

  test("a role that groups gave counts in no session of a password", async () => {
    rules.signUp = "open";
    const { id } = await console.newAccount();
    const email = `${Bun.randomUUIDv7()}@example.com`;
    const browser = open();
    await browser.call("POST", "/sign-up", { name: "Ada", email, password: PASSWORD });
    const subject = newSubject({ groups: ["engineering"] });
    server.subject = subject;
    const begun = await browser.call("POST", "/me/identities", { provider: "real" });
    expect(await answer(browser, begun.json.location)).toBe("/console/profile");
    setRules({ rights: [{ group: "engineering", account: id, role: "owner" }] });
    const byProvider = open();
    await signIn(byProvider, subject);
    expect((await byProvider.call("GET", `/accounts/${id}/keys`)).status).toBe(200);
    const byPassword = open();
    await byPassword.call("POST", "/sign-in", { email, password: PASSWORD });
    expect((await byPassword.call("GET", "/me")).json.accounts).toHaveLength(1);
    expect((await byPassword.call("GET", `/accounts/${id}/keys`)).status).toBe(404);
    setRules();
  });

  test("an identity is linked by its person alone, and belongs to one person", async () => {
    rules.signUp = "open";
    const [ada, bob, subject] = [open(), open(), newSubject()];
    for (const browser of [ada, bob]) {
      const email = `${Bun.randomUUIDv7()}@example.com`;
      await browser.call("POST", "/sign-up", { name: "N", email, password: PASSWORD });
    }
    expect((await open().call("POST", "/me/identities", { provider: "real" })).status).toBe(401);
    server.subject = subject;
    const begun = await ada.call("POST", "/me/identities", { provider: "real" });
    const back = await server.visit(begun.json.location);
    const path = back.slice(`${publicUrl}/console/api`.length);
    // Bob's browser did not begin it: an address that he was sent links nothing to him.
    expect((await bob.call("GET", path)).headers.get("location")).toBe("/console/sign-in?problem=expired");
    expect((await ada.call("GET", path)).headers.get("location")).toBe("/console/profile");
    const again = await bob.call("POST", "/me/identities", { provider: "real" });
    expect(await answer(bob, again.json.location)).toBe("/console/profile?problem=linked");
    const { json } = await ada.call("GET", "/me/sign-in-ways");
    expect(json).toMatchObject({ password: true, identities: [{ provider: "real", email: subject.email }] });
    const other = open();
    await signIn(other, subject);
    expect((await ada.call("DELETE", `/me/identities/${json.identities[0].id}`)).status).toBe(200);
    expect((await other.call("GET", "/me")).status).toBe(401);
    expect((await ada.call("GET", "/me")).status).toBe(200);
  });

  test("the last way to sign in stays", async () => {
    rules.signUp = "open";
    const [browser, subject] = [open(), newSubject()];
    await signIn(browser, subject);
    const { json } = await browser.call("GET", "/me/sign-in-ways");
    const removed = await browser.call("DELETE", `/me/identities/${json.identities[0].id}`);
    expect(removed.status).toBe(409);
    expect((await browser.call("GET", "/me")).status).toBe(200);
  });

  test("an answer counts once, and without its cookie, with another state or another code it counts never", async () => {
    rules.signUp = "open";
    const [browser, subject] = [open(), newSubject()];
    server.subject = subject;
    const begun = await browser.call("POST", "/oidc/real", {});
    const back = await server.visit(begun.json.location);
    const path = back.slice(`${publicUrl}/console/api`.length);
    const expired = "/console/sign-in?problem=expired";
    expect((await open().call("GET", path)).headers.get("location")).toBe(expired);
    const forged = path.replace(/state=[^&]+/, "state=forged");
    expect((await browser.call("GET", forged)).headers.get("location")).toBe(expired);
    expect(browser.cookie).toBe("");
    const flow = { cookie: begun.headers.getSetCookie()[0]?.split(";", 1)[0] ?? "" };
    expect((await browser.call("GET", path, undefined, flow)).headers.get("location")).toBe("/console/");
    expect((await browser.call("GET", path, undefined, flow)).headers.get("location")).toBe(expired);
    const next = await browser.call("POST", "/oidc/real", {});
    const other = await server.visit(next.json.location);
    const code = new URL(back).searchParams.get("code") ?? "";
    const replayed = other.replace(/code=[^&]+/, `code=${code}`).slice(`${publicUrl}/console/api`.length);
    const answered = await browser.call("GET", replayed);
    expect(answered.headers.get("location")).toBe("/console/sign-in?problem=provider");
  });

  test("an invitation that is none goes into no cookie", async () => {
    const invitation = `${"x".repeat(43)}; Domain=example.com`;
    const begun = await open().call("POST", "/oidc/real", { invitation });
    expect([begun.status, begun.headers.getSetCookie()]).toEqual([422, []]);
  });

  test("answers of sign-ins that were never begun are counted, and those without their state are not", async () => {
    const browser = open();
    const secret = "s".repeat(43);
    const answerTo = async (state: string) => {
      const path = `/oidc/real/callback?state=${state}&code=x`;
      const answered = await browser.call("GET", path, undefined, { cookie: `tollgate.oidc=${secret}` });
      return answered.headers.get("location");
    };
    const expired = "/console/sign-in?problem=expired";
    for (let count = 0; count < 21; count += 1) expect(await answerTo("forged")).toBe(expired);
    const own = digestOf(`state:${secret}`);
    for (let count = 0; count < 20; count += 1) expect(await answerTo(own)).toBe(expired);
    expect(await answerTo(own)).toBe("/console/sign-in?problem=throttled");
  });

  test("nothing that strangers do at its address keeps a person from a proof at its provider", async () => {
    rules.signUp = "open";
    const [browser, subject] = [open(), newSubject()];
    await signIn(browser, subject);
    const stranger = open(browser.address);
    for (let count = 0; count < 21; count += 1) {
      await stranger.call("GET", `/shared/shl-${"x".repeat(43)}`);
      await stranger.call("GET", `/invitations/${"x".repeat(43)}`);
    }
    expect((await stranger.call("GET", `/invitations/${"x".repeat(43)}`)).status).toBe(429);
    // Links that any site makes a browser open use up no sign-in.
    expect(await signIn(open(browser.address), newSubject())).toBe("/console/");
    const begin = () => stranger.call("POST", "/oidc/real", {});
    // At once, because a minute later they are forgotten.
    await Promise.all(Array.from({ length: 60 }, begin));
    expect((await begin()).status).toBe(429);
    server.subject = subject;
    const begun = await browser.call("POST", "/me/confirm/real");
    expect(await answer(browser, begun.json.location)).toBe("/console/confirmed");
  });

  test("the provider's refusal is named by a word, and nothing of its text is shown", async () => {
    const browser = open();
    server.subject = undefined;
    const begun = await browser.call("POST", "/oidc/real", { next: "/profile" });
    const at = await answer(browser, begun.json.location);
    expect(at).toBe("/console/sign-in?problem=denied&next=%2Fprofile");
  });

  test.each(["https://evil.example", "//evil.example", "/\\evil.example", "/../../evil"])(
    "after the sign-in, %p leads to the console",
    async (next) => {
      rules.signUp = "open";
      expect(await signIn(open(), newSubject(), { next })).toBe("/console/");
    },
  );

  test("only admitted domains sign in, and only with a verified address", async () => {
    rules.signUp = "open";
    setRules({ domains: ["example.com"] });
    const problem = "/console/sign-in?problem=domain";
    expect(await signIn(open(), newSubject({ email_verified: false }))).toBe(problem);
    expect(await signIn(open(), newSubject({ email: "ada@example.com.evil.test" }))).toBe(problem);
    expect(await signIn(open(), newSubject())).toBe("/console/");
    setRules();
  });

  test("where the file requires a provider, passwords open no session, and a command opens a door for a day", async () => {
    rules.signUp = "open";
    const email = `${Bun.randomUUIDv7()}@example.com`;
    const browser = open();
    await browser.call("POST", "/sign-up", { name: "Ada", email, password: PASSWORD });
    setRules({}, { requiresProvider: true });
    const given = { email, password: PASSWORD };
    expect((await open().call("POST", "/sign-in", given)).status).toBe(403);
    const wrong = await open().call("POST", "/sign-in", { email, password: "wrong password" });
    expect(wrong.status).toBe(401);
    const stranger = { name: "Bob", email: "bob@example.com", password: PASSWORD };
    expect((await open().call("POST", "/sign-up", stranger)).status).toBe(403);
    const { database } = console.parts;
    const { people } = database.tables;
    const set = { passwordUntilMs: Date.now() + HOUR_MS };
    await database.db.update(people).set(set).where(eq(people.email, email));
    expect((await open().call("POST", "/sign-in", given)).status).toBe(200);
    setRules();
  });

  test("a session of a provider ends when the file takes the provider away, or gives its sessions less time", async () => {
    rules.signUp = "open";
    setRules();
    const browser = open();
    expect(await signIn(browser, newSubject())).toBe("/console/");
    const status = async () => (await browser.call("GET", "/me")).status;
    expect(await status()).toBe(200);
    setRules({ sessionMs: 1 });
    expect(await status()).toBe(401);
    setRules({ id: "renamed", issuer: `${server.issuer}/` });
    expect(await status()).toBe(200);
    setRules({ issuer: "https://another.example" });
    expect(await status()).toBe(401);
    setRules();
    // It was opened by a clock that was two days ahead.
    const { db, tables } = console.parts.database;
    const createdAt = new Date(Date.now() + 48 * HOUR_MS);
    await db.update(tables.sessions).set({ createdAt });
    expect(await status()).toBe(401);
  });

  test("a sign-out leads on to that of the provider where the file says so, in sessions of the provider alone", async () => {
    rules.signUp = "open";
    const signOut = async (browser: ConsoleBrowser) => {
      const { json } = await browser.call("POST", "/sign-out");
      expect((await browser.call("GET", "/me")).status).toBe(401);
      return json.location;
    };
    const [browser, subject] = [open(), newSubject()];
    await signIn(browser, subject);
    expect(await signOut(browser)).toBeNull();
    setRules({ rpInitiatedLogout: true });
    await signIn(browser, subject);
    const location = await signOut(browser);
    const { origin, searchParams } = new URL(location);
    expect([origin, Object.fromEntries(searchParams)]).toEqual([
      server.issuer,
      { client_id: CLIENT_ID, post_logout_redirect_uri: `${publicUrl}/console/sign-in` },
    ]);
    expect(await server.visit(location)).toBe(`${publicUrl}/console/sign-in`);
    const email = `${Bun.randomUUIDv7()}@example.com`;
    await browser.call("POST", "/sign-up", { name: "Bob", email, password: PASSWORD });
    expect(await signOut(browser)).toBeNull();
    setRules();
  });

  test("a step that needs a fresh proof asks the provider for one, of the same person", async () => {
    rules.signUp = "open";
    const [browser, subject] = [open(), newSubject()];
    await signIn(browser, subject);
    const { database } = console.parts;
    const { sessions, people } = database.tables;
    const [person] = await database.db
      .select()
      .from(people)
      .where(eq(people.email, subject.email ?? ""));
    const isOwn = eq(sessions.userId, person?.id ?? "");
    await database.db.update(sessions).set({ confirmedAtMs: null }).where(isOwn);
    expect(
      (await browser.call("POST", "/me/identities", { provider: "real" })).headers.get("x-tollgate-confirm"),
    ).toBe("password");
    server.subject = newSubject();
    const other = await browser.call("POST", "/me/confirm/real");
    expect(await answer(browser, other.json.location)).toBe("/console/confirmed?problem=other_person");
    expect((await browser.call("GET", "/me")).json.confirmed).toBe(false);
    server.subject = subject;
    const begun = await browser.call("POST", "/me/confirm/real");
    expect(new URL(begun.json.location).searchParams.get("prompt")).toBe("login");
    expect(await answer(browser, begun.json.location)).toBe("/console/confirmed");
    expect((await browser.call("GET", "/me")).json.confirmed).toBe(true);
  });

  test("where the file requires a provider, it alone gives a fresh proof in its sessions", async () => {
    rules.signUp = "open";
    const [browser, subject] = [open(), newSubject()];
    await signIn(browser, subject);
    const accepted = async () => (await browser.call("GET", "/me/sign-in-ways")).json.own_proof_accepted;
    const byPassword = () => browser.call("POST", "/me/confirm", { password: PASSWORD });
    expect([await accepted(), (await byPassword()).status]).toEqual([true, 401]);
    setRules({}, { requiresProvider: true });
    expect([await accepted(), (await byPassword()).status]).toEqual([false, 403]);
    expect((await browser.call("POST", "/me/confirm-passkey/options")).status).toBe(403);
    const begun = await browser.call("POST", "/me/confirm/real");
    expect(await answer(browser, begun.json.location)).toBe("/console/confirmed");
    setRules();
  });
});
