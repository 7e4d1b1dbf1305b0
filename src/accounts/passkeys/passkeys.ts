// The only file that imports @simplewebauthn/server, which is loaded at the first use of a passkey.
import { isIP } from "node:net";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { and, asc, eq } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import { isLoopbackHost } from "../../domain/addresses.ts";
import type { SignInRules } from "../../domain/sign-in-rules.ts";
import { GatewayError } from "../../errors.ts";
import { loadPart } from "../../program-files.ts";
import { type Actor, recordChange } from "../audit-trail.ts";
import { requireOwnProof } from "../people/credentials.ts";
import { giveOnce, takeOnce } from "../people/once.ts";
import { openSession } from "../people/open-session.ts";
import { findPersonById, type Person } from "../people/people.ts";
import { confirmSession } from "../people/sessions.ts";
import type { Visitor } from "../people/sign-in.ts";
import { deletePasskey, lockPerson, requireRoom, requireWay } from "../people/sign-in-ways.ts";
import { type Throttle, trustedSessionOf } from "../people/throttle.ts";

const CHALLENGE_MS = 5 * 60_000;

export interface PasskeyParts {
  readonly database: Database;
  readonly throttle: Throttle;
  readonly rules: () => SignInRules;
  readonly publicUrl: () => string;
  readonly now: () => number;
}

/** What a challenge was given for. */
interface Challenge {
  readonly purpose: "register" | "sign-in" | "confirm";
  /** The session that asked; `undefined` for a sign-in. */
  readonly sessionId?: string | undefined;
}

const load = () => loadPart(() => import("@simplewebauthn/server"));

/** Whether browsers accept passkeys here: they need https or this machine, and a name in place of an address. */
export function hasPasskeys(publicUrl: string): boolean {
  const { hostname, protocol } = new URL(publicUrl);
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0 && (protocol === "https:" || isLoopbackHost(hostname));
}

/** Begins to register a passkey of the actor. Rejects with `conflict` for the 21st. */
export async function beginRegistration(parts: PasskeyParts, actor: Actor) {
  const { database, publicUrl } = parts;
  const person = await requirePerson(database, actor.id);
  const own = await listPasskeys(database, actor.id);
  await requireRoom(database, database.db, actor.id);
  const { generateRegistrationOptions } = await load();
  const options = await generateRegistrationOptions({
    rpName: "Tollgate",
    rpID: new URL(publicUrl()).hostname,
    userID: new TextEncoder().encode(person.id),
    userName: person.email,
    userDisplayName: person.name,
    attestationType: "none",
    excludeCredentials: own.map(toDescriptor),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
  });
  await keep(parts, options.challenge, { purpose: "register", sessionId: actor.session?.id });
  return options;
}

/** Registers a passkey of the actor. Rejects with `wrong_shape` for an answer that is not valid, and like the begin. */
export async function register(
  parts: PasskeyParts,
  actor: Actor,
  { name, response }: { readonly name: string; readonly response: RegistrationResponseJSON },
): Promise<void> {
  const { database, now } = parts;
  const { verifyRegistrationResponse } = await load();
  const checked = await verifyRegistrationResponse({
    response,
    ...expectationsOf(parts, { purpose: "register", sessionId: actor.session?.id }),
  }).catch(refuse);
  if (!checked.verified) throw new GatewayError("wrong_shape");
  const { credential, credentialDeviceType } = checked.registrationInfo;
  const nowMs = now();
  const row = {
    id: credential.id,
    personId: actor.id,
    name,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    uses: credential.counter,
    transports: JSON.stringify(credential.transports ?? []),
    isSynced: credentialDeviceType === "multiDevice",
    createdAtMs: nowMs,
  };
  await database.transact(async (tx) => {
    await lockPerson(database, tx, actor.id);
    await requireRoom(database, tx, actor.id);
    const inserted = await tx.insert(database.tables.passkeys).values(row).onConflictDoNothing().returning();
    if (inserted.length === 0) throw new GatewayError("conflict");
    const change = { action: "passkey.added", target: actor.id, after: { name } };
    await recordChange(database, tx, actor, change, nowMs);
  });
}

/** Removes a passkey of a person, and ends the other sessions that passkeys opened. Rejects with `unknown_item`, and with `conflict` for the last way to sign in. */
export async function removePasskey(
  { database, rules, now }: Pick<PasskeyParts, "database" | "rules" | "now">,
  actor: Actor,
  id: string,
): Promise<void> {
  const personId = actor.id;
  await database.transact(async (tx) => {
    await lockPerson(database, tx, personId);
    const removal = { actor, personId, id, keptId: actor.session?.id };
    const isRemoved = await deletePasskey(database, tx, removal, now());
    if (!isRemoved) throw new GatewayError("unknown_item");
    await requireWay(database, tx, { personId, requiresProvider: rules().requiresProvider });
  });
}

/** Begins a sign-in by any passkey that the browser knows for this console. */
export async function beginSignIn(parts: PasskeyParts, { address }: Visitor) {
  requirePasskeys(parts);
  return parts.throttle("provider", { address }, () => challenge(parts, { purpose: "sign-in" }, []));
}

/** Signs the person of a passkey in. Rejects with `wrong_password` for an answer that is not valid. */
export async function signInByPasskey(
  parts: PasskeyParts,
  visitor: Visitor,
  response: AuthenticationResponseJSON,
): Promise<{ readonly person: Person; readonly cookie: string }> {
  requirePasskeys(parts);
  const { database, publicUrl, now } = parts;
  return parts.throttle("guess", { address: visitor.address }, async () => {
    const { personId, countUse: first } = await verify(parts, { purpose: "sign-in" }, response);
    const nowMs = now();
    const session = { personId, visitor, way: "passkey", confirmedAtMs: nowMs, first } as const;
    const cookie = await openSession(database, publicUrl(), session, nowMs);
    return { person: await requirePerson(database, personId), cookie };
  });
}

/** Begins a new proof in the actor's session, by a passkey of its person. */
export async function beginProof(parts: PasskeyParts, actor: Actor) {
  requireOwnProof(parts.rules(), actor);
  const own = await listPasskeys(parts.database, actor.id);
  if (own.length === 0) throw new GatewayError("unknown_item");
  return challenge(parts, { purpose: "confirm", sessionId: actor.session?.id }, own);
}

/** Records a new proof in the actor's session. Rejects with `wrong_password` for an answer that is not valid. */
export async function proveByPasskey(
  parts: PasskeyParts,
  { address }: Visitor,
  { actor, response }: { readonly actor: Actor; readonly response: AuthenticationResponseJSON },
): Promise<void> {
  const { session } = actor;
  if (!session) throw new GatewayError("no_session");
  requireOwnProof(parts.rules(), actor);
  const trusted = trustedSessionOf(session);
  await parts.throttle("guess", { address, trusted }, async () => {
    const given: Challenge = { purpose: "confirm", sessionId: session.id };
    const { personId, countUse } = await verify(parts, given, response);
    if (personId !== actor.id) throw new GatewayError("wrong_password");
    await parts.database.transact(countUse);
  });
  await confirmSession(parts.database, session.id, parts.now());
}

type Passkey = Tables["passkeys"]["$inferSelect"];

async function listPasskeys({ db, tables: { passkeys } }: Database, personId: string) {
  return db.select().from(passkeys).where(eq(passkeys.personId, personId)).orderBy(asc(passkeys.createdAtMs));
}

/** Throws `not_permitted` where the file requires a provider. */
function requirePasskeys({ rules }: PasskeyParts): void {
  if (rules().requiresProvider) throw new GatewayError("not_permitted");
}

async function challenge(parts: PasskeyParts, given: Challenge, own: readonly Passkey[]) {
  const { generateAuthenticationOptions } = await load();
  const options = await generateAuthenticationOptions({
    rpID: new URL(parts.publicUrl()).hostname,
    userVerification: "required",
    allowCredentials: own.map(toDescriptor),
  });
  await keep(parts, options.challenge, given);
  return options;
}

/**
 * Checks an answer: an authenticator that counts back may have been copied, and is refused. `countUse` rejects for a
 * passkey that was removed or used since.
 */
async function verify(parts: PasskeyParts, given: Challenge, response: AuthenticationResponseJSON) {
  const { database, now } = parts;
  const { passkeys } = database.tables;
  const [row] = await database.db.select().from(passkeys).where(eq(passkeys.id, response.id));
  if (!row) throw new GatewayError("wrong_password");
  const { verifyAuthenticationResponse } = await load();
  const publicKey = new Uint8Array(Buffer.from(row.publicKey, "base64url"));
  const checked = await verifyAuthenticationResponse({
    response,
    ...expectationsOf(parts, given),
    credential: { id: row.id, publicKey, counter: row.uses },
  }).catch(() => ({ verified: false }) as const);
  const { userHandle } = response.response;
  const isOwn = userHandle === undefined || Buffer.from(userHandle, "base64url").toString() === row.personId;
  if (!checked.verified || !isOwn) throw new GatewayError("wrong_password");
  const { newCounter: uses, credentialBackedUp } = checked.authenticationInfo;
  const countUse = async (tx: Db) => {
    const isUnused = and(eq(passkeys.id, row.id), eq(passkeys.uses, row.uses));
    const set = { uses, isSynced: row.isSynced || credentialBackedUp, lastUsedAtMs: now() };
    const used = await tx.update(passkeys).set(set).where(isUnused).returning();
    if (used.length === 0) throw new GatewayError("wrong_password");
  };
  return { personId: row.personId, countUse };
}

/** What every answer must have: our origin and name, a person who was checked, and an unused challenge. */
function expectationsOf(parts: PasskeyParts, wanted: Challenge) {
  const { database, publicUrl, now } = parts;
  return {
    expectedOrigin: publicUrl(),
    expectedRPID: new URL(publicUrl()).hostname,
    requireUserVerification: true,
    expectedChallenge: async (secret: string) => {
      // Safe because keep alone gives values of this kind.
      const given = (await takeOnce(database, { kind: "passkey", secret }, now())) as Challenge | undefined;
      return given?.purpose === wanted.purpose && given.sessionId === wanted.sessionId;
    },
  };
}

async function keep({ database, now }: PasskeyParts, secret: string, value: Challenge): Promise<void> {
  await giveOnce(database, { kind: "passkey", secret, value, lastsMs: CHALLENGE_MS }, now());
}

function toDescriptor({ id, transports }: Passkey) {
  // Safe because the column is written by us.
  return { id, transports: JSON.parse(transports) as string[] };
}

function refuse(): never {
  throw new GatewayError("wrong_shape");
}

async function requirePerson(database: Database, id: string): Promise<Person> {
  const person = await findPersonById(database, id);
  if (!person) throw new GatewayError("no_session");
  return person;
}
