import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { eq } from "drizzle-orm";
import { COMMAND_LINE, listAuditEntries } from "../../../src/accounts/audit-trail.ts";
import { digestOf } from "../../../src/accounts/keys/key.ts";
import {
  type CredentialParts,
  changePassword,
  confirmPassword,
  orderPasswordReset,
  resetPassword,
  type SignedIn,
  signInPerson,
  verifyEmail,
} from "../../../src/accounts/people/credentials.ts";
import { createIdentify } from "../../../src/accounts/people/identify.ts";
import { createOperator } from "../../../src/accounts/people/operators.ts";
import type { Passwords } from "../../../src/accounts/people/passwords.ts";
import { findPerson } from "../../../src/accounts/people/people.ts";
import { sweepSessions } from "../../../src/accounts/people/sessions.ts";
import { createSignIn } from "../../../src/accounts/people/sign-in.ts";
import { type SignUpParts, signUp } from "../../../src/accounts/people/sign-up.ts";
import { createThrottle } from "../../../src/accounts/people/throttle.ts";
import { readCookieSecret } from "../../../src/accounts/shared-secret.ts";
import { connectDatabase } from "../../../src/db/database.ts";
import { createMails } from "../../../src/delivery/mail/mails.ts";
import { createMemoryLimiter } from "../../../src/limiter/memory.ts";
import { DIALECTS, openTempStorage, type TempStorage } from "../temp-storage.ts";

const PASSWORD = "correct horse battery";
const EMAIL = "ada@example.com";
const ORIGIN = "http://console.test";

describe.each(DIALECTS)("people in %s", (dialect) => {
  let storage: TempStorage;
  let parts: CredentialParts;
  let signUps: SignUpParts;
  const hashes: string[] = [];
  let offsetMs = 0;
  const now = () => Date.now() + offsetMs;
  beforeEach(async () => {
    storage = await openTempStorage(dialect);
    offsetMs = 0;
    hashes.length = 0;
    const { database, ledger } = storage;
    const passwords = recordHashes(hashes);
    // No minute of the throttle ends while a test runs.
    const limiter = createMemoryLimiter({ now: () => 0 });
    const throttle = createThrottle(() => limiter);
    const signIn = createSignIn({ database, passwords, publicUrl: () => ORIGIN, now });
    const mails = createMails(database);
    parts = { database, signIn, throttle, mails, now };
    signUps = { database, ledger, passwords, signIn, throttle, mails, policy: () => "open", now };
  });
  afterEach(() => storage.close());

  let visits = 0;
  const visitor = (cookie = "") => {
    visits += 1;
    const address = `198.51.${Math.floor(visits / 250)}.${visits % 250}`;
    return { address, headers: new Headers({ cookie, "user-agent": "Test" }) };
  };
  const pairOf = (cookie: string) => cookie.split(";", 1)[0] ?? "";
  const cookieOf = ({ cookies: [session] }: Pick<SignedIn, "cookies">) => pairOf(session);
  const deviceOf = ({ cookies: [, device] }: Pick<SignedIn, "cookies">) => pairOf(device);
  const newPerson = (email = EMAIL) => signUp(signUps, visitor(), { name: "Ada", email, password: PASSWORD });
  const identify = (cookie: string) => {
    const { database } = storage;
    const onFault = (error: unknown) => {
      throw error;
    };
    const find = createIdentify({ database, publicUrl: () => ORIGIN, now, onFault });
    return find(new Request(ORIGIN, { headers: { cookie } }), "192.0.2.1");
  };
  const mintReset = async () => {
    const token = await parts.signIn.mintReset(EMAIL);
    if (!token) throw new Error("There is no token");
    return token;
  };

  test("a sign-in costs one hash for known, unknown and passwordless people", async () => {
    await newPerson();
    const wrong = { email: EMAIL, password: "wrong password" };
    const cases = [wrong, { ...wrong, email: "nobody@example.com" }];
    for (const given of cases) {
      hashes.length = 0;
      await expect(signInPerson(parts, visitor(), given)).rejects.toMatchObject({ kind: "wrong_password" });
      expect(hashes).toHaveLength(1);
    }
    const { db, tables } = storage.database;
    await db.delete(tables.credentials);
    hashes.length = 0;
    await expect(signInPerson(parts, visitor(), wrong)).rejects.toMatchObject({ kind: "wrong_password" });
    expect(hashes).toHaveLength(1);
  });

  test("two sign-ups with one address at once make one person, one account and one mail", async () => {
    const attempts = await Promise.allSettled([newPerson(), newPerson("ADA@example.com"), newPerson()]);
    const fulfilled = attempts.filter(({ status }) => status === "fulfilled");
    expect(fulfilled).toHaveLength(1);
    const { db, tables } = storage.database;
    expect(await db.select().from(tables.people)).toHaveLength(1);
    expect(await db.select().from(tables.credentials)).toHaveLength(1);
    expect(await db.select().from(tables.members)).toHaveLength(1);
    expect(await db.select().from(tables.accounts)).toHaveLength(1);
    const mail = { template: "email_verification", address: EMAIL };
    expect(await db.select().from(tables.mails)).toMatchObject([mail]);
  });

  test("the second person of one name gets an account of a longer name", async () => {
    await newPerson();
    await newPerson("other@example.com");
    const { db, tables } = storage.database;
    const names = (await db.select().from(tables.accounts)).map(({ name }) => name).sort();
    expect(names).toEqual(["Ada", expect.stringMatching(/^Ada [0-9a-f]{6}$/)]);
    const chosen = { name: "Ada", email: "third@example.com", password: PASSWORD, accountName: "Ada" };
    await expect(signUp(signUps, visitor(), chosen)).rejects.toMatchObject({ kind: "conflict" });
    expect(await findPerson(storage.database, "third@example.com")).toBeUndefined();
  });

  test.each(["invited", "closed"] as const)(
    "nobody signs up uninvited while sign-up is %s",
    async (policy) => {
      signUps = { ...signUps, policy: () => policy };
      await expect(newPerson()).rejects.toMatchObject({ kind: "not_permitted" });
      const invited = { name: "Ada", email: EMAIL, password: PASSWORD, invitation: "x".repeat(43) };
      const kind = policy === "invited" ? "unknown_item" : "not_permitted";
      await expect(signUp(signUps, visitor(), invited)).rejects.toMatchObject({ kind });
      expect(hashes).toEqual([]);
    },
  );

  test("a new password ends every session, with the audit entry in one transaction", async () => {
    const cookies = [cookieOf(await newPerson())];
    for (let index = 0; index < 2; index += 1) {
      cookies.push(cookieOf(await signInPerson(parts, visitor(), { email: EMAIL, password: PASSWORD })));
    }
    const [first = ""] = cookies;
    const actor = await identify(first);
    if (!actor) throw new Error("The session is not found");
    const change = { actor, current: PASSWORD, password: "another password" };
    const changed = cookieOf(await changePassword(parts, visitor(first), change));
    expect(await Promise.all(cookies.map(identify))).toEqual([undefined, undefined, undefined]);
    expect(await identify(changed)).toMatchObject({ name: EMAIL, session: { mustChangePassword: false } });
    const entries = await listAuditEntries(storage.database, {}, { size: 10, after: undefined });
    expect(entries.map(({ action }) => action)).toContain("password.changed");
    await expect(signInPerson(parts, visitor(), { email: EMAIL, password: PASSWORD })).rejects.toMatchObject({
      kind: "wrong_password",
    });
  });

  test("a sign-in whose password is changed while it is compared opens no session", async () => {
    const cookie = cookieOf(await newPerson());
    const actor = await identify(cookie);
    if (!actor) throw new Error("The session is not found");
    const change = { actor, current: PASSWORD, password: "another password" };
    const { passwords } = signUps;
    const slow: Passwords = {
      ...passwords,
      async verify(password, hash) {
        const isRight = await passwords.verify(password, hash);
        await changePassword(parts, visitor(cookie), change);
        return isRight;
      },
    };
    const { database } = storage;
    const signIn = createSignIn({ database, passwords: slow, publicUrl: () => ORIGIN, now });
    await expect(
      signInPerson({ ...parts, signIn }, visitor(), { email: EMAIL, password: PASSWORD }),
    ).rejects.toMatchObject({ kind: "wrong_password" });
    expect(await database.db.select().from(database.tables.sessions)).toHaveLength(1);
  });

  test("a new password whose audit entry fails is no new password", async () => {
    const cookie = cookieOf(await newPerson());
    const fail = async () => {
      throw new Error("the audit entry failed");
    };
    const given = { current: PASSWORD, password: "another password" };
    await expect(parts.signIn.changePassword(visitor(cookie), given, fail)).rejects.toThrow();
    expect(await identify(cookie)).toBeDefined();
    await signInPerson(parts, visitor(), { email: EMAIL, password: PASSWORD });
  });

  test("a wrong current password, the same one and a short one change nothing", async () => {
    const cookie = cookieOf(await newPerson());
    const actor = await identify(cookie);
    if (!actor) throw new Error("The session is not found");
    const attempt = (current: string, password: string) =>
      changePassword(parts, visitor(cookie), { actor, current, password });
    await expect(attempt("wrong password", "another password")).rejects.toMatchObject({
      kind: "wrong_password",
    });
    await expect(attempt(PASSWORD, PASSWORD)).rejects.toMatchObject({ kind: "wrong_shape" });
    await expect(attempt(PASSWORD, "short")).rejects.toMatchObject({ kind: "wrong_shape" });
    expect(await identify(cookie)).toBeDefined();
  });

  test("one of four resets with one token works, and ends every session", async () => {
    const cookie = cookieOf(await newPerson());
    const token = await mintReset();
    const attempts = await Promise.allSettled(
      [1, 2, 3, 4].map((each) =>
        resetPassword(parts, visitor(), { token, password: `password number ${each}` }),
      ),
    );
    const worked = attempts.findIndex(({ status }) => status === "fulfilled");
    const refused = attempts.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(3);
    for (const each of refused) expect(each).toMatchObject({ reason: { kind: "unknown_item" } });
    expect(await identify(cookie)).toBeUndefined();
    await signInPerson(parts, visitor(), { email: EMAIL, password: `password number ${worked + 1}` });
    expect(await findPerson(storage.database, EMAIL)).toMatchObject({ emailVerified: true });
  });

  /** Adds a passkey and an identity to a person. Returns how many of them there are. */
  const addWays = async (personId: string) => {
    const { db, tables } = storage.database;
    const id = Bun.randomUUIDv7();
    const times = { createdAtMs: now(), lastUsedAtMs: now() };
    const passkey = {
      id,
      personId,
      name: "Laptop",
      publicKey: "",
      uses: 0,
      transports: "[]",
      isSynced: false,
    };
    await db.insert(tables.passkeys).values({ ...passkey, ...times });
    const identity = { id, personId, issuer: "https://issuer.example", subject: id, provider: "real" };
    await db.insert(tables.identities).values({ ...identity, ...times });
    return async () =>
      (await db.select().from(tables.passkeys)).length + (await db.select().from(tables.identities)).length;
  };

  test("the first link that proves an address ends what a stranger may have added, and a later one ends nothing", async () => {
    const { person } = await newPerson();
    const count = await addWays(person.id);
    await resetPassword(parts, visitor(), { token: await mintReset(), password: "another password" });
    expect(await count()).toBe(0);
    const entries = await listAuditEntries(storage.database, {}, { size: 10, after: undefined });
    expect(entries.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["passkey.removed", "identity.unlinked"]),
    );
    await addWays(person.id);
    await resetPassword(parts, visitor(), { token: await mintReset(), password: "yet another password" });
    expect(await count()).toBe(2);
  });

  test("a person with an unproven address becomes an operator without what a stranger may have added", async () => {
    const { person } = await newPerson();
    const count = await addWays(person.id);
    const create = () => {
      const { passwords } = signUps;
      return createOperator({ database: storage.database, passwords }, { email: EMAIL }, COMMAND_LINE);
    };
    await create();
    expect(await count()).toBe(0);
    await addWays(person.id);
    await create();
    expect(await count()).toBe(2);
  });

  test("links for a new password work side by side, and any new password ends them all", async () => {
    const cookie = cookieOf(await newPerson());
    const [first, second, third] = [await mintReset(), await mintReset(), await mintReset()];
    const reset = (token: string) => resetPassword(parts, visitor(), { token, password: "another password" });
    const actor = await identify(cookie);
    if (!actor) throw new Error("The session is not found");
    const change = { actor, current: PASSWORD, password: "yet another password" };
    await changePassword(parts, visitor(cookie), change);
    for (const each of [first, second, third]) {
      await expect(reset(each)).rejects.toMatchObject({ kind: "unknown_item" });
    }
    const [early, late] = [await mintReset(), await mintReset()];
    await reset(early);
    await expect(reset(late)).rejects.toMatchObject({ kind: "unknown_item" });
    const last = await mintReset();
    const { passwords } = signUps;
    await createOperator({ database: storage.database, passwords }, { email: EMAIL }, COMMAND_LINE);
    await expect(reset(last)).rejects.toMatchObject({ kind: "unknown_item" });
  });

  test("a person has at most twenty sessions: the one that was unused for longest ends", async () => {
    const first = cookieOf(await newPerson());
    const again = () => signInPerson(parts, visitor(), { email: EMAIL, password: PASSWORD });
    const second = cookieOf(await again());
    const { db, tables } = storage.database;
    const used = await identify(first);
    await db.update(tables.sessions).set({ updatedAt: new Date(Date.now() - 60_000) });
    const isFirst = eq(tables.sessions.id, used?.session?.id ?? "");
    await db.update(tables.sessions).set({ updatedAt: new Date() }).where(isFirst);
    const later: string[] = [];
    for (let index = 0; index < 19; index += 1) later.push(cookieOf(await again()));
    expect(await db.select().from(tables.sessions)).toHaveLength(20);
    expect(await identify(second)).toBeUndefined();
    for (const cookie of [first, ...later]) expect(await identify(cookie)).toBeDefined();
  });

  test("an expired, a made-up and a stored token reset nothing", async () => {
    await newPerson();
    const token = await mintReset();
    const { db, tables } = storage.database;
    const [proof] = await db.select().from(tables.proofs);
    await db.update(tables.proofs).set({ expiresAt: new Date(Date.now() - 1) });
    for (const each of [token, "made-up", proof?.identifier ?? "", "%", "'"]) {
      const reset = resetPassword(parts, visitor(), { token: each, password: "another password" });
      await expect(reset).rejects.toMatchObject({ kind: "unknown_item" });
    }
    await signInPerson(parts, visitor(), { email: EMAIL, password: PASSWORD });
  });

  test("a forgotten password orders one mail for known and unknown addresses alike", async () => {
    await newPerson();
    for (const email of [EMAIL, "nobody@example.com"]) await orderPasswordReset(parts, visitor(), email);
    const { db, tables } = storage.database;
    const ordered = await db.select().from(tables.mails);
    const mails = ordered.filter(({ template }) => template === "password_reset");
    expect(mails.map(({ address, template, data }) => [address, template, data]).sort()).toEqual([
      [EMAIL, "password_reset", "{}"],
      ["nobody@example.com", "password_reset", "{}"],
    ]);
    expect(await parts.signIn.mintReset("nobody@example.com")).toBeUndefined();
  });

  test("the token of a mail proves an address, whose host may have no dot", async () => {
    await createOperator(
      { database: storage.database, passwords: signUps.passwords },
      { email: "ada@localhost" },
      COMMAND_LINE,
    );
    const token = await parts.signIn.mintVerification("ada@localhost");
    await expect(verifyEmail(parts, visitor(), `${token}x`)).rejects.toMatchObject({ kind: "unknown_item" });
    await verifyEmail(parts, visitor(), token ?? "");
    expect(await findPerson(storage.database, "ada@localhost")).toMatchObject({ emailVerified: true });
    expect(await parts.signIn.mintVerification("ada@localhost")).toBeUndefined();
  });

  /** Fails at the sign-in of a person from two addresses, then from many, until strangers are throttled. */
  const attack = async (email = EMAIL) => {
    const wrong = { email, password: "a wrong password" };
    const kinds: string[] = [];
    for (let index = 0; index < 30; index += 1) {
      const thrown = await signInPerson(parts, visitor(), wrong).catch((each) => each);
      kinds.push(thrown.kind);
    }
    expect(kinds).toContain("sign_in_throttled");
  };

  test.each(["change-email-verification", undefined])(
    "no token moves a person to another address, also one that the secret of the database signed: %p",
    async (requestType) => {
      const { person } = await newPerson();
      const order = { userId: person.id, email: EMAIL, updateTo: "mallory@evil.example", requestType };
      const token = signJwt(await readCookieSecret(storage.database), order);
      await expect(verifyEmail(parts, visitor(), token)).rejects.toMatchObject({ kind: "unknown_item" });
      expect(await findPerson(storage.database, EMAIL)).toMatchObject({ id: person.id });
    },
  );

  test("a browser that signed a person in signs it in again while strangers guess its password", async () => {
    const device = deviceOf(await newPerson());
    await attack();
    const given = { email: EMAIL, password: PASSWORD };
    await expect(signInPerson(parts, visitor(), given)).rejects.toMatchObject({ kind: "sign_in_throttled" });
    const known = await signInPerson(parts, visitor(device), given);
    expect(deviceOf(known)).not.toBe(device);
    expect(await identify(device)).toBeUndefined();
  });

  test("a known browser guesses ten times a minute, whatever its address, and only for its own person", async () => {
    const device = deviceOf(await newPerson());
    await newPerson("other@example.com");
    await attack("other@example.com");
    const other = { email: "other@example.com", password: PASSWORD };
    await expect(signInPerson(parts, visitor(device), other)).rejects.toMatchObject({
      kind: "sign_in_throttled",
    });
    const kinds: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      const wrong = { email: EMAIL, password: "a wrong password" };
      const thrown = await signInPerson(parts, visitor(device), wrong).catch((each) => each);
      kinds.push(thrown.kind);
    }
    expect(kinds.filter((kind) => kind === "wrong_password")).toHaveLength(10);
  });

  test("a browser is not known after 90 days, after a new password, or with a forged cookie", async () => {
    const first = await newPerson();
    const device = deviceOf(first);
    const { id } = first.person;
    const isKnown = async (cookie: string) =>
      (await parts.signIn.recognise(visitor(cookie), EMAIL)).trusted !== undefined;
    expect(await isKnown(device)).toBe(true);
    const [name = "", value = ""] = device.split("=", 2);
    const [deviceId, until, signature] = value.split(".");
    const forged = [
      `${deviceId}.${Number(until) + 1}.${signature}`,
      `${deviceId}.${until}.${"A".repeat(43)}`,
    ];
    for (const each of [...forged, value.slice(0, -1), `${value}x`, "", "..", id]) {
      expect(await isKnown(`${name}=${each}`)).toBe(false);
    }
    offsetMs = 90 * 24 * 3_600_000 + 1_000;
    expect(await isKnown(device)).toBe(false);
    offsetMs = 0;
    const actor = await identify(cookieOf(first));
    if (!actor) throw new Error("There is no session");
    const change = { actor, current: PASSWORD, password: `${PASSWORD}!` };
    const changed = await changePassword(parts, visitor(cookieOf(first)), change);
    expect(await isKnown(device)).toBe(false);
    expect(await isKnown(deviceOf(changed))).toBe(true);
  });

  test("a session confirms its password while strangers guess it, ten times a minute", async () => {
    const cookie = cookieOf(await newPerson());
    await attack();
    const actor = await identify(cookie);
    if (!actor) throw new Error("There is no session");
    await confirmPassword(parts, visitor(cookie), { actor, password: PASSWORD });
    const kinds: string[] = [];
    for (let index = 0; index < 12; index += 1) {
      const wrong = { actor, password: "a wrong password" };
      const thrown = await confirmPassword(parts, visitor(cookie), wrong).catch((each) => each);
      kinds.push(thrown.kind);
    }
    expect(kinds.filter((kind) => kind === "wrong_password")).toHaveLength(10);
  });

  test("an expired session is nobody's and is swept", async () => {
    const cookie = cookieOf(await newPerson());
    await mintReset();
    offsetMs = 14 * 24 * 3_600_000 + 1_000;
    expect(await identify(cookie)).toBeUndefined();
    expect(await sweepSessions(storage.database, now())).toBe(2);
    offsetMs = 0;
    expect(await identify(cookie)).toBeUndefined();
  });

  test("neither a stored digest nor a forged, cut or doubled cookie is a session", async () => {
    const cookie = cookieOf(await newPerson());
    const [name = "", value = ""] = cookie.split("=", 2);
    const [token = "", signature = ""] = value.split(".");
    const digest = digestOf(token);
    const { createHmac } = await import("node:crypto");
    const sign = (text: string, secret: string) => createHmac("sha256", secret).update(text).digest("base64");
    const secret = await readCookieSecret(storage.database);
    const stolen = `${digest}.${encodeURIComponent(sign(digest, secret))}`;
    const forged = `${token}.${encodeURIComponent(sign(token, "another secret"))}`;
    for (const each of [
      stolen,
      forged,
      token,
      `${token}.`,
      `.${signature}`,
      `${token}.%zz`,
      "",
      `${value}x`,
    ]) {
      expect(await identify(`${name}=${each}`)).toBeUndefined();
    }
    expect(await identify(`other=1; ${cookie}; ${name}=x`)).toBeDefined();
    // A thief of the database who knows the secret still needs a token: the library refuses a digest too.
    const verify = parts.signIn.verifyPassword(visitor(`${name}=${stolen}`), PASSWORD);
    await expect(verify).rejects.toMatchObject({ kind: "no_session" });
  });

  test("no table holds a password, the token of a session or of a mail after a whole flow", async () => {
    const signedUp = cookieOf(await newPerson());
    const token = await mintReset();
    const verification = await parts.signIn.mintVerification(EMAIL);
    const beforeReset = await readEverything(storage);
    await resetPassword(parts, visitor(), { token, password: "another password" });
    const signedIn = cookieOf(
      await signInPerson(parts, visitor(), { email: EMAIL, password: "another password" }),
    );
    await orderPasswordReset(parts, visitor(), EMAIL);
    const stored = beforeReset + (await readEverything(storage));
    expect(stored).toContain(EMAIL);
    const tokens = [signedUp, signedIn].map((each) => each.split("=")[1]?.split(".")[0] ?? "");
    for (const secret of [...tokens, token, verification ?? "", PASSWORD, "another password"]) {
      expect(secret.length).toBeGreaterThan(10);
      expect(stored.includes(secret)).toBe(false);
    }
  });

  test("two processes that start at once share one cookie secret", async () => {
    const other = await connectDatabase(storage.location);
    try {
      const secrets = await Promise.all([storage.database, other].map(readCookieSecret));
      expect(new Set(secrets).size).toBe(1);
      expect(secrets[0]).toHaveLength(43);
    } finally {
      await other.close();
    }
  });

  test("a person who is made an operator gets a one-time password, and loses its sessions", async () => {
    const cookie = cookieOf(await newPerson());
    const { database } = storage;
    const { passwords } = signUps;
    const made = await createOperator(
      { database, passwords },
      { email: ` ${EMAIL.toUpperCase()}` },
      COMMAND_LINE,
    );
    expect(made).toMatchObject({ isNew: false, person: { isOperator: true, mustChangePassword: true } });
    expect(await identify(cookie)).toBeUndefined();
    const given = { email: EMAIL, password: made.oneTimePassword };
    expect(await signInPerson(parts, visitor(), given)).toMatchObject({ person: { name: "Ada" } });
  });

  test("somebody who is no operator any more does not act any more", async () => {
    const cookie = cookieOf(await newPerson());
    const { db, tables } = storage.database;
    await db.update(tables.sessions).set({ actingAccountId: "account", actingUntilMs: now() + 60_000 });
    expect((await identify(cookie))?.acting).toBeUndefined();
    await db.update(tables.people).set({ isOperator: true }).where(eq(tables.people.email, EMAIL));
    expect((await identify(cookie))?.acting).toMatchObject({ accountId: "account" });
    offsetMs = 61_000;
    expect((await identify(cookie))?.acting).toBeUndefined();
  });
});

/** Records each hash, whose cost of 30 ms the tests of passwords and of the console's sign-in prove. */
function recordHashes(hashes: string[]): Passwords {
  const cheap = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const;
  return {
    hash: (password) => {
      hashes.push("hash");
      return Bun.password.hash(password, cheap);
    },
    verify: (password, hash) => {
      hashes.push("verify");
      return Bun.password.verify(password, hash).catch(() => false);
    },
  };
}

/** Returns every row of every table of people, and of mails, as text. */
async function readEverything({ database: { db, tables } }: TempStorage): Promise<string> {
  const rows = [];
  for (const table of Object.values(tables)) rows.push(await db.select().from(table));
  return JSON.stringify(rows, (_key, value) => (typeof value === "bigint" ? String(value) : value));
}

function signJwt(secret: string, payload: object): string {
  const times = { iat: Math.floor(Date.now() / 1_000), exp: Math.floor(Date.now() / 1_000) + 300 };
  const parts = [{ alg: "HS256" }, { ...payload, ...times }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  const signature = createHmac("sha256", secret).update(parts.join(".")).digest("base64url");
  return [...parts, signature].join(".");
}
