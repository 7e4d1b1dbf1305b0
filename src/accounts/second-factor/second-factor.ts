import { and, eq, gt, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { Database, Db, Tables } from "../../db/database.ts";
import type { SignInRules } from "../../domain/sign-in-rules.ts";
import { GatewayError } from "../../errors.ts";
import { platform } from "../../platform.ts";
import { type Actor, type AuditActor, recordChange } from "../audit-trail.ts";
import { digestOf } from "../keys/key.ts";
import { deleteSessions } from "../people/sessions.ts";
import { openSecret, sealSecret } from "./sealed-secret.ts";
import { findStep, printBase32, printKeyUri } from "./totp.ts";

const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits: a digest of them cannot be searched for the code. */
const RECOVERY_BYTES = 10;
/** Wrong codes until none is accepted for an hour. 240 guesses a day find a code in some thousand days. */
const FAILURES_MAX = 10;
const LOCKED_MS = 60 * 60_000;

type Factor = Tables["secondFactors"]["$inferSelect"];

/** Whether a person must give a second factor by the file. */
export function isRequired(
  { secondFactor }: SignInRules,
  { isOperator }: { readonly isOperator: boolean },
): boolean {
  return secondFactor === "everyone" || (secondFactor === "operators" && isOperator);
}

/** Whether a person has a second factor in force. */
export async function hasSecondFactor(database: Database, personId: string): Promise<boolean> {
  return (await findFactor(database, personId)) !== undefined;
}

/** Begins to set up a second factor: returns its secret for the app. Nothing is in force yet. Rejects with `conflict`. */
export async function beginSecondFactor(
  database: Database,
  { actor, host }: { readonly actor: Actor; readonly host: string },
  nowMs: number,
): Promise<{ readonly secret: string; readonly uri: string }> {
  const { secondFactors } = database.tables;
  const personId = actor.id;
  const bytes = platform.randomBytes(SECRET_BYTES);
  const secret = await sealSecret(database, personId, bytes);
  const fresh = { secret, recoveryDigests: "[]", lastStep: 0, failures: 0, createdAtMs: nowMs };
  await database.transact(async (tx) => {
    const isUnfinished = and(eq(secondFactors.personId, personId), isNull(secondFactors.confirmedAtMs));
    await tx.delete(secondFactors).where(isUnfinished);
    const row = { personId, ...fresh };
    const inserted = await tx.insert(secondFactors).values(row).onConflictDoNothing().returning();
    if (inserted.length === 0) throw new GatewayError("conflict");
  });
  return { secret: printBase32(bytes), uri: printKeyUri(bytes, { host, email: actor.name }) };
}

/**
 * Puts the second factor in force by a code of the app, and ends the person's other sessions. Returns the recovery codes,
 * which are shown once. Rejects with `wrong_password` for a wrong code.
 */
export async function finishSecondFactor(
  database: Database,
  { actor, code }: { readonly actor: Actor; readonly code: string },
  nowMs: number,
): Promise<readonly string[]> {
  const { secondFactors } = database.tables;
  const { id: personId, session } = actor;
  const isBegun = and(eq(secondFactors.personId, personId), isNull(secondFactors.confirmedAtMs));
  const [row] = await database.db.select().from(secondFactors).where(isBegun);
  if (!row) throw new GatewayError("conflict");
  const secret = await openSecret(database, row);
  const lastStep = findStep(secret, code, { nowMs, lastStep: row.lastStep });
  if (lastStep === undefined) throw wrongCode();
  const { codes, recoveryDigests } = createRecoveryCodes();
  await database.transact(async (tx) => {
    const set = { confirmedAtMs: nowMs, lastStep, recoveryDigests };
    const isSame = and(isBegun, eq(secondFactors.secret, row.secret));
    const finished = await tx.update(secondFactors).set(set).where(isSame).returning();
    if (finished.length === 0) throw new GatewayError("conflict");
    await deleteSessions(database, tx, { personId, keptId: session?.id });
    await recordChange(database, tx, actor, { action: "second_factor.added", target: personId }, nowMs);
  });
  return codes;
}

/** Replaces the recovery codes of the actor. Rejects with `unknown_item` without a second factor. */
export async function renewRecoveryCodes(
  database: Database,
  actor: Actor,
  nowMs: number,
): Promise<readonly string[]> {
  const { secondFactors } = database.tables;
  const { codes, recoveryDigests } = createRecoveryCodes();
  await database.transact(async (tx) => {
    const isOwn = and(eq(secondFactors.personId, actor.id), isNotNull(secondFactors.confirmedAtMs));
    const renewed = await tx.update(secondFactors).set({ recoveryDigests }).where(isOwn).returning();
    if (renewed.length === 0) throw new GatewayError("unknown_item");
    const change = { action: "second_factor.codes_renewed", target: actor.id };
    await recordChange(database, tx, actor, change, nowMs);
  });
  return codes;
}

/** Removes the second factor of a person. Rejects with `unknown_item` without one. */
export async function removeSecondFactor(database: Database, removal: Removal, nowMs: number): Promise<void> {
  await database.transact((tx) => deleteSecondFactor(database, tx, removal, nowMs));
}

interface Removal {
  readonly actor: AuditActor;
  readonly personId: string;
}

/** Removes the second factor of a person in a transaction. Rejects with `unknown_item` without one. */
export async function deleteSecondFactor(
  database: Database,
  tx: Db,
  { actor, personId }: Removal,
  nowMs: number,
): Promise<void> {
  const { secondFactors } = database.tables;
  const removed = await tx.delete(secondFactors).where(eq(secondFactors.personId, personId)).returning();
  if (removed.length === 0) throw new GatewayError("unknown_item");
  await recordChange(database, tx, actor, { action: "second_factor.removed", target: personId }, nowMs);
}

/**
 * Checks a code of the app or a recovery code of a person with a second factor, each of which counts once. Rejects with
 * `code_needed` without a code, `wrong_password` for a wrong one, and `sign_in_throttled` after ten wrong ones. Does
 * nothing for a person without a second factor.
 */
export async function requireSecondFactor(
  database: Database,
  { personId, code }: { readonly personId: string; readonly code: string | undefined },
  nowMs: number,
): Promise<void> {
  const factor = await findFactor(database, personId);
  if (!factor) return;
  if (code === undefined) throw new GatewayError("code_needed");
  const plain = code.replace(/[\s-]/g, "");
  // A recovery code cannot be guessed, and stays a way in while the app's codes are locked.
  const isRecovery = plain.length !== 6;
  const isAccepted = isRecovery
    ? await useRecoveryCode(database, factor, { plain, nowMs })
    : await useAppCode(database, factor, { plain, nowMs });
  if (!isAccepted) throw wrongCode();
}

async function findFactor(
  { db, tables: { secondFactors } }: Database,
  personId: string,
): Promise<Factor | undefined> {
  const isOn = and(eq(secondFactors.personId, personId), isNotNull(secondFactors.confirmedAtMs));
  const [row] = await db.select().from(secondFactors).where(isOn);
  return row;
}

interface GivenCode {
  readonly plain: string;
  readonly nowMs: number;
}

async function useAppCode(database: Database, factor: Factor, { plain, nowMs }: GivenCode): Promise<boolean> {
  const { personId } = factor;
  const { secondFactors } = database.tables;
  const isOwn = eq(secondFactors.personId, personId);
  const secret = await openSecret(database, factor);
  return database.transact(async (tx) => {
    const { lastStep, failures } = await countTry(database, tx, { personId, nowMs });
    const step = findStep(secret, plain, { nowMs, lastStep });
    if (step !== undefined) {
      const set = { lastStep: step, failures: 0, lockedUntilMs: null };
      await tx.update(secondFactors).set(set).where(isOwn);
    } else if (failures >= FAILURES_MAX) await lockCodes(database, tx, { personId, nowMs });
    return step !== undefined;
  });
}

interface Try {
  readonly personId: string;
  readonly nowMs: number;
}

/**
 * Counts a guess before it is looked at: of many at once, on any number of gateways, ten are. Two with one code come one
 * after the other. Rejects with `sign_in_throttled` while the codes are locked.
 */
async function countTry(database: Database, tx: Db, { personId, nowMs }: Try): Promise<Factor> {
  const { secondFactors } = database.tables;
  const { lockedUntilMs, failures } = secondFactors;
  // A lock too far ahead was written before a clock was set back.
  const isOpen = or(isNull(lockedUntilMs), lte(lockedUntilMs, nowMs), gt(lockedUntilMs, nowMs + LOCKED_MS));
  const isOwn = eq(secondFactors.personId, personId);
  const set = { failures: sql`${failures} + 1` };
  const [counted] = await tx.update(secondFactors).set(set).where(and(isOwn, isOpen)).returning();
  if (!counted) throw new GatewayError("sign_in_throttled", { retryAfterS: 60 });
  return counted;
}

async function lockCodes(database: Database, tx: Db, { personId, nowMs }: Try): Promise<void> {
  const { secondFactors, people } = database.tables;
  const set = { failures: 0, lockedUntilMs: nowMs + LOCKED_MS };
  await tx.update(secondFactors).set(set).where(eq(secondFactors.personId, personId));
  const [person] = await tx.select().from(people).where(eq(people.id, personId));
  const actor: AuditActor = { kind: "person", id: personId, name: person?.email ?? "" };
  await recordChange(database, tx, actor, { action: "second_factor.locked", target: personId }, nowMs);
}

async function useRecoveryCode(
  database: Database,
  { personId, recoveryDigests }: Factor,
  { plain, nowMs }: GivenCode,
): Promise<boolean> {
  const { secondFactors, people } = database.tables;
  // Safe because the column is written by us.
  const digests = JSON.parse(recoveryDigests) as readonly string[];
  const used = digestOf(plain.toUpperCase());
  const left = digests.filter((each) => each !== used);
  if (left.length === digests.length) return false;
  return database.transact(async (tx) => {
    const isSame = and(
      eq(secondFactors.personId, personId),
      eq(secondFactors.recoveryDigests, recoveryDigests),
    );
    const set = { recoveryDigests: JSON.stringify(left), failures: 0, lockedUntilMs: null };
    const changed = await tx.update(secondFactors).set(set).where(isSame).returning();
    if (changed.length === 0) return false;
    const [person] = await tx.select().from(people).where(eq(people.id, personId));
    const actor: AuditActor = { kind: "person", id: personId, name: person?.email ?? "" };
    const change = { action: "second_factor.code_used", target: personId, after: { left: left.length } };
    await recordChange(database, tx, actor, change, nowMs);
    return true;
  });
}

function createRecoveryCodes(): { readonly codes: readonly string[]; readonly recoveryDigests: string } {
  const plain = Array.from({ length: RECOVERY_CODES }, () =>
    printBase32(platform.randomBytes(RECOVERY_BYTES)),
  );
  return {
    codes: plain.map((code) => code.match(/.{4}/g)?.join("-") ?? code),
    recoveryDigests: JSON.stringify(plain.map(digestOf)),
  };
}

function wrongCode(): GatewayError {
  return new GatewayError("wrong_password", { message: "The code is wrong, or was used before." });
}
