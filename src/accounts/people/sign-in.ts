// The only file that imports better-auth, which is loaded at the first sign-in: it takes 20 MB and 0.3 s.
import { AsyncLocalStorage } from "node:async_hooks";
import { and, eq, gt } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { type Cause, GatewayError } from "../../errors.ts";
import { loadPart } from "../../program-files.ts";
import { digestOf } from "../keys/key.ts";
import { readCookieSecret } from "../shared-secret.ts";
import type { HashCaller, Passwords } from "./passwords.ts";
import {
  COOKIE_NAME,
  COOKIE_PATH,
  cookieFormOf,
  findKnownDevice,
  printDeviceCookie,
  SESSION_S,
} from "./session-cookie.ts";
import { boundSessions, endOpenedSession } from "./sessions.ts";
import { createSignInAdapter, type FollowUp, printAlias } from "./sign-in-adapter.ts";
import { networkOf } from "./throttle.ts";

/** How long the link of a mail for a new password works. */
const RESET_S = 60 * 60;
const VERIFICATION_S = 24 * 60 * 60;
const AGENT_LENGTH_MAX = 300;

export interface SignInParts {
  readonly database: Database;
  readonly passwords: Passwords;
  /** Returns the origin of the console. With https, cookies are `Secure`. */
  readonly publicUrl: () => string;
  readonly now: () => number;
}

/** The sender of a request: its address and headers. */
export interface Visitor {
  readonly address: string | undefined;
  /** The session or the known device, where that was checked. */
  readonly trusted?: string | undefined;
  /** The headers of the request: `cookie` and `user-agent` are read. */
  readonly headers: Headers;
}

/** A new session. */
interface OpenedSession {
  readonly personId: string;
  /** SHA-256 of the token, by which the session is stored. */
  readonly digest: string;
  /** The values of `set-cookie`: of the session, and of the browser that is known from now on. */
  readonly cookies: readonly [session: string, device: string];
}

/**
 * Passwords, new sessions, and proofs of addresses. Rejects with `wrong_password` for wrong passwords and unknown
 * addresses alike, `no_session` without a session, and `unknown_item` for tokens that are not valid any more.
 */
export interface SignIn {
  /** Returns the visitor as a trusted one where its browser has signed in the person of this e-mail before. */
  recognise(visitor: Visitor, email: string): Promise<Visitor>;
  signIn(visitor: Visitor, given: { email: string; password: string }): Promise<OpenedSession>;
  /** Ends every session of the person and opens a new one. `followUp` runs in the same transaction. */
  changePassword(
    visitor: Visitor,
    given: { current: string; password: string },
    followUp: FollowUp,
  ): Promise<OpenedSession>;
  /** Rejects unless the password is that of the session's person. */
  verifyPassword(visitor: Visitor, password: string): Promise<void>;
  /**
   * Returns the token of a mail for a new password; `undefined` for an unknown address. It ends no earlier one: a
   * stranger who orders links could otherwise keep a person out.
   */
  mintReset(email: string): Promise<string | undefined>;
  /** Sets a new password and ends every session of the person. A token works once. */
  resetPassword(token: string, password: string, followUp: (personId: string) => FollowUp): Promise<void>;
  /** Returns the token of a mail that proves an address; `undefined` when it is unknown or proven. */
  mintVerification(email: string): Promise<string | undefined>;
  verifyEmail(token: string): Promise<void>;
}

/** Creates the sign-in. The library is loaded when one of its functions is called first. */
export function createSignIn(parts: SignInParts): SignIn {
  const { database, publicUrl, now } = parts;
  const stores: Stores = {
    followUps: new AsyncLocalStorage(),
    minted: new AsyncLocalStorage(),
    hashing: new AsyncLocalStorage(),
  };
  let loading: ReturnType<typeof loadAuth> | undefined;
  const load = () => {
    loading ??= loadAuth(parts, stores).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const mint = async (send: () => Promise<unknown>): Promise<string | undefined> => {
    const box: { token?: string } = {};
    await stores.minted.run(box, () => answered(send()));
    return box.token;
  };

  /** Runs a call of the library. Its hashes take turns as those of the visitor. */
  const asVisitor = <Answer>(visitor: Visitor, call: () => Promise<Answer>) =>
    stores.hashing.run({ caller: hashCallerOf(visitor) }, () => answered(call()));
  const printOpened = async (headers: Headers, personId: string, token: string): Promise<OpenedSession> => {
    const known = { personId, form: cookieFormOf(publicUrl()), nowMs: now() };
    const cookies = [findSetCookie(headers, token), await printDeviceCookie(database, known)] as const;
    return { personId, digest: digestOf(token), cookies };
  };

  return {
    recognise: (visitor, email) => recognise(parts, visitor, email),
    async signIn(visitor, { email, password }) {
      const { api } = await load();
      const headers = headersOf(visitor, { withCookie: false });
      const body = { email: printAlias(email), password };
      const hashing: Hashing = { caller: hashCallerOf(visitor) };
      const call = () => answered(api.signInEmail({ body, headers, returnHeaders: true }));
      const opened = await stores.hashing.run(hashing, call);
      await keepOpened(database, opened.response, hashing);
      return printOpened(opened.headers, opened.response.user.id, opened.response.token);
    },
    async changePassword(visitor, { current, password }, followUp) {
      const { api } = await load();
      const body = { currentPassword: current, newPassword: password, revokeOtherSessions: true };
      const call = () => api.changePassword({ body, headers: headersOf(visitor), returnHeaders: true });
      const changed = await stores.followUps.run(followUp, () => asVisitor(visitor, call));
      const { user, token } = changed.response;
      if (!token) throw new Error("A changed password opened no session");
      return printOpened(changed.headers, user.id, token);
    },
    async verifyPassword(visitor, password) {
      const { api } = await load();
      const call = () => api.verifyPassword({ body: { password }, headers: headersOf(visitor) });
      await asVisitor(visitor, call);
    },
    async mintReset(email) {
      if (!(await mayReset(database, email))) return undefined;
      const { api } = await load();
      return mint(() => api.requestPasswordReset({ body: { email: printAlias(email) } }));
    },
    async resetPassword(token, password, followUp) {
      const { api } = await load();
      const personId = await findResetPerson(database, token);
      const call = () => api.resetPassword({ body: { token, newPassword: password } });
      await stores.followUps.run(followUp(personId), () => answered(call()));
    },
    async mintVerification(email) {
      const { api } = await load();
      return mint(() => api.sendVerificationEmail({ body: { email: printAlias(email) } }));
    },
    async verifyEmail(token) {
      // The library also reads orders for another address in such a token. Nothing here signs one.
      if ("updateTo" in payloadOf(token)) throw new GatewayError("unknown_item");
      const { api } = await load();
      await answered(api.verifyEmail({ query: { token } }));
    },
  };
}

/** What callbacks of the library read of the call that runs them. */
interface Stores {
  readonly followUps: AsyncLocalStorage<FollowUp>;
  readonly minted: AsyncLocalStorage<{ token?: string }>;
  readonly hashing: AsyncLocalStorage<Hashing>;
}

/** For whom a call of the library hashes, and the stored hash that a password was compared with. */
interface Hashing {
  readonly caller: HashCaller;
  compared?: string;
}

async function loadAuth(
  { database, passwords, publicUrl }: SignInParts,
  { followUps, minted, hashing }: Stores,
) {
  const [{ betterAuth }, { drizzleAdapter }, secret] = await Promise.all([
    loadPart(() => import("better-auth/minimal")),
    loadPart(() => import("better-auth/adapters/drizzle")),
    readCookieSecret(database),
  ]);
  const { people, sessions, credentials, proofs } = database.tables;
  const schema = { user: people, session: sessions, account: credentials, verification: proofs };
  const provider = database.dialect === "postgres" ? "pg" : "sqlite";
  const { isSecure } = cookieFormOf(publicUrl());
  const keep = async ({ token }: { token: string }) => {
    const box = minted.getStore();
    if (box) box.token = token;
  };
  return betterAuth({
    baseURL: publicUrl(),
    secret,
    database: (options) =>
      createSignInAdapter(database, (db) => drizzleAdapter(db, { provider, schema })(options), followUps),
    // Its log has queries with their values in it, and its telemetry calls another host.
    logger: { disabled: true },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      // Lengths are checked by us, in characters after normalisation.
      minPasswordLength: 1,
      maxPasswordLength: 4_096,
      password: {
        hash: (password) => passwords.hash(password, hashing.getStore()?.caller),
        verify({ hash, password }) {
          const call = hashing.getStore();
          if (call) call.compared = hash;
          return passwords.verify(password, hash, call?.caller);
        },
      },
      resetPasswordTokenExpiresIn: RESET_S,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: keep,
    },
    emailVerification: { sendVerificationEmail: keep, expiresIn: VERIFICATION_S },
    verification: { storeIdentifier: { hash: async (identifier) => digestOf(identifier) } },
    session: {
      expiresIn: SESSION_S,
      // The console renews sessions itself.
      disableSessionRefresh: true,
      additionalFields: {
        confirmedAtMs: { type: "number", required: false, input: false, defaultValue: () => Date.now() },
      },
    },
    advanced: {
      useSecureCookies: isSecure,
      cookies: {
        session_token: {
          name: COOKIE_NAME,
          attributes: { path: COOKIE_PATH, httpOnly: true, sameSite: "lax", secure: isSecure },
        },
      },
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 128 },
      database: { generateId: () => Bun.randomUUIDv7(), validateSchema: false },
    },
  });
}

const ADDRESS_HEADER = "x-tollgate-address";

/** Only what the library needs: no other header can change what it does. */
function headersOf({ address, headers }: Visitor, { withCookie = true } = {}): Headers {
  const cookie = withCookie ? headers.get("cookie") : null;
  const agent = headers.get("user-agent")?.slice(0, AGENT_LENGTH_MAX);
  return new Headers({
    ...(cookie ? { cookie } : {}),
    ...(agent ? { "user-agent": agent } : {}),
    ...(address ? { [ADDRESS_HEADER]: address } : {}),
  });
}

async function recognise(
  { database, publicUrl, now }: SignInParts,
  visitor: Visitor,
  email: string,
): Promise<Visitor> {
  const form = cookieFormOf(publicUrl());
  const device = await findKnownDevice(database, { headers: visitor.headers, form, email, nowMs: now() });
  return device === undefined ? visitor : { ...visitor, trusted: `device:${device}` };
}

/** Returns the turn of a visitor among those that wait for a hash. */
export function hashCallerOf({ address, trusted }: Visitor): HashCaller {
  return { owner: trusted ?? networkOf(address), isTrusted: trusted !== undefined };
}

/**
 * Keeps a session that a password opened, among at most 20. Rejects with `wrong_password` where the password was replaced
 * while it was compared: the new one has ended every session before this one was written.
 */
async function keepOpened(
  database: Database,
  { user: { id }, token }: { readonly user: { readonly id: string }; readonly token: string },
  { compared = "" }: Hashing,
): Promise<void> {
  const { credentials } = database.tables;
  const isSame = and(eq(credentials.userId, id), eq(credentials.password, compared));
  // Locks the row, so that a change that is being written is waited for.
  const found = await database.transact((tx) =>
    tx.update(credentials).set({ password: compared }).where(isSame).returning({ id: credentials.id }),
  );
  if (found.length > 0) return boundSessions(database, id);
  await endOpenedSession(database, digestOf(token));
  throw new GatewayError("wrong_password");
}

function findSetCookie(headers: Headers, token: string): string {
  const cookie = headers.getSetCookie().find((each) => each.includes(`${COOKIE_NAME}=${token}.`));
  if (!cookie) throw new Error("A new session came without its cookie");
  return cookie;
}

/**
 * Whether a link may set the password of an address: its person has a password, or has proven the address. A person who
 * came from a provider may have claimed a foreign address there.
 */
async function mayReset({ db, tables }: Database, email: string): Promise<boolean> {
  const { people, credentials } = tables;
  const [person] = await db.select().from(people).where(eq(people.email, email));
  if (!person || person.emailVerified) return person !== undefined;
  const isOwn = eq(credentials.userId, person.id);
  const passwords = await db.select({ id: credentials.id }).from(credentials).where(isOwn).limit(1);
  return passwords.length > 0;
}

async function findResetPerson({ db, tables: { proofs } }: Database, token: string): Promise<string> {
  const isWanted = eq(proofs.identifier, digestOf(`reset-password:${token}`));
  const [proof] = await db
    .select({ personId: proofs.value })
    .from(proofs)
    .where(and(isWanted, gt(proofs.expiresAt, new Date())));
  if (!proof) throw new GatewayError("unknown_item");
  return proof.personId;
}

/** Reads a signed token, whose signature is not checked here. */
function payloadOf(token: string): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Errors of the library, by their code. Others are internal: their text may hold a query. */
const CAUSES: Readonly<Record<string, Cause>> = {
  INVALID_EMAIL_OR_PASSWORD: "wrong_password",
  INVALID_EMAIL: "wrong_password",
  INVALID_PASSWORD: "wrong_password",
  CREDENTIAL_ACCOUNT_NOT_FOUND: "wrong_password",
  PASSWORD_TOO_LONG: "wrong_password",
  UNAUTHORIZED: "no_session",
  INVALID_TOKEN: "unknown_item",
  TOKEN_EXPIRED: "unknown_item",
  USER_NOT_FOUND: "unknown_item",
};

async function answered<Answer>(calling: Promise<Answer>): Promise<Answer> {
  try {
    return await calling;
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    throw new GatewayError(CAUSES[codeOf(thrown)] ?? "internal", { reason: thrown });
  }
}

function codeOf(thrown: unknown): string {
  const body = thrown instanceof Error && "body" in thrown ? thrown.body : undefined;
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
  return typeof code === "string" ? code : "";
}
