import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { and, eq, isNull, lt } from "drizzle-orm";
import type { DatabaseParts, Db } from "../db/database.ts";
import { DAY_MS } from "../domain/id-time.ts";
import { GatewayError } from "../errors.ts";
import { platform } from "../platform.ts";
import type { Actor } from "./audit-trail.ts";
import { digestOf } from "./keys/key.ts";
import { COOKIE_NAME } from "./people/session-cookie.ts";

/** How long an answer is kept. */
const KEPT_MS = DAY_MS;
/** A creation without an answer after this time was killed: a repetition takes its place. */
const CLAIM_MS_MAX = 60_000;
const KEY = /^[\x21-\x7e]{1,255}$/;
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Cookies of other programs on the host are no secrets of ours. */
const SESSION_NAMES = [`__Secure-${COOKIE_NAME}`, COOKIE_NAME];

/** A request that creates something, and its parsed body. */
export interface CreationRequest {
  readonly request: Request;
  readonly body: unknown;
}

/**
 * Stores the answer, in the transaction `tx` that creates the thing. Rejects with `conflict` when another
 * request has taken the place of this one: the transaction must then be rolled back.
 */
export type KeepAnswer<Answer> = (tx: Db, answer: Answer) => Promise<void>;

/**
 * Creates something once per header `idempotency-key` (1 to 255 visible characters) of a caller: a repetition
 * within 24 h gets the first answer. Rejects with `conflict` for another body, and while the first one runs.
 * `create` must call its argument in the transaction that creates. Without the header it always creates.
 */
export async function createOnce<Answer extends object>(
  { database, now }: DatabaseParts,
  { request, body }: CreationRequest,
  actor: Actor,
  create: (keep: KeepAnswer<Answer>) => Promise<Answer>,
): Promise<Answer> {
  const key = request.headers.get("idempotency-key");
  if (key === null) return create(async () => undefined);
  if (!KEY.test(key)) throw new GatewayError("wrong_shape", { path: "idempotency-key" });
  const credential = credentialOf(request, actor);
  const claim: Claim = {
    database,
    now,
    credential: credential.id,
    digest: digestOf(key),
    requestDigest: digestOf(describe(request, body)),
    secret: deriveKey(credential.secret, key),
  };
  const taken = await take(claim);
  if (taken.answer !== undefined) return JSON.parse(taken.answer) as Answer;
  return runClaimed(claim, taken.atMs, create);
}

/** Deletes the answers that are older than 24 h. */
export async function sweepAnswers({ database, now }: DatabaseParts): Promise<void> {
  const { idempotentAnswers } = database.tables;
  const isOld = lt(idempotentAnswers.createdAtMs, now() - KEPT_MS);
  await database.transact((tx) => tx.delete(idempotentAnswers).where(isOld));
}

interface Claim extends DatabaseParts {
  readonly credential: string;
  readonly digest: string;
  readonly requestDigest: string;
  /** The key of the answer: made of the caller's own credential, so that the database alone reveals none. */
  readonly secret: Buffer;
}

/** A stored answer, or the time that identifies the claim of this request. */
type Taken = { readonly answer: string } | { readonly answer: undefined; readonly atMs: number };

async function runClaimed<Answer extends object>(
  claim: Claim,
  atMs: number,
  create: (keep: KeepAnswer<Answer>) => Promise<Answer>,
): Promise<Answer> {
  let isKept = false;
  const keep = async (tx: Db, answer: Answer) => {
    await keepAnswer(claim, atMs, { tx, text: JSON.stringify(answer) });
    isKept = true;
  };
  try {
    const answer = await create(keep);
    if (!isKept) throw new Error("The creation did not keep its answer");
    return answer;
  } catch (fault) {
    // Nothing was created, so that a repetition may try. An answer whose commit is in doubt stays.
    await giveBack(claim, atMs).catch(() => undefined);
    throw fault;
  }
}

async function take(claim: Claim): Promise<Taken> {
  const { database, credential, digest, requestDigest, now } = claim;
  const { idempotentAnswers } = database.tables;
  return database.transact(async (tx) => {
    const nowMs = now();
    const isOld = lt(idempotentAnswers.createdAtMs, nowMs - KEPT_MS);
    await tx.delete(idempotentAnswers).where(and(isClaimed(claim), isOld));
    const values = { credential, digest, requestDigest, createdAtMs: nowMs };
    const inserted = await tx.insert(idempotentAnswers).values(values).onConflictDoNothing().returning();
    if (inserted.length > 0) return { answer: undefined, atMs: nowMs };
    const [row] = await tx.select().from(idempotentAnswers).where(isClaimed(claim));
    if (row?.requestDigest !== requestDigest) throw new GatewayError("conflict");
    if (row.answer !== null) return { answer: readAnswer(claim, row.answer) };
    // A clock that was set back leaves claims of the future.
    if (Math.abs(nowMs - row.createdAtMs) < CLAIM_MS_MAX) throw new GatewayError("conflict");
    const isSame = and(isClaimed(claim, row.createdAtMs), isNull(idempotentAnswers.answer));
    const set = { createdAtMs: nowMs };
    const moved = await tx.update(idempotentAnswers).set(set).where(isSame).returning();
    if (moved.length === 0) throw new GatewayError("conflict");
    return { answer: undefined, atMs: nowMs };
  });
}

interface KeptText {
  readonly tx: Db;
  readonly text: string;
}

async function keepAnswer(claim: Claim, atMs: number, { tx, text }: KeptText): Promise<void> {
  const { idempotentAnswers } = claim.database.tables;
  const isOurs = and(isClaimed(claim, atMs), isNull(idempotentAnswers.answer));
  const set = { answer: encrypt(claim, text) };
  const kept = await tx.update(idempotentAnswers).set(set).where(isOurs).returning();
  if (kept.length === 0) throw new GatewayError("conflict");
}

async function giveBack(claim: Claim, atMs: number): Promise<void> {
  const { idempotentAnswers } = claim.database.tables;
  const isOurs = and(isClaimed(claim, atMs), isNull(idempotentAnswers.answer));
  await claim.database.transact((tx) => tx.delete(idempotentAnswers).where(isOurs));
}

function isClaimed({ database, credential, digest }: Claim, atMs?: number) {
  const { idempotentAnswers } = database.tables;
  return and(
    eq(idempotentAnswers.credential, credential),
    eq(idempotentAnswers.digest, digest),
    atMs === undefined ? undefined : eq(idempotentAnswers.createdAtMs, atMs),
  );
}

/** What the caller sends to be known: a management key, or the token of a session's cookie. */
function credentialOf({ headers }: Request, { id, kind, session }: Actor) {
  const bearer = /^Bearer[ \t]+(\S+)[ \t]*$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (kind === "management_key" && bearer) return { id: `management_key:${id}`, secret: bearer };
  const cookies = (headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
  const token = cookies.find((cookie) => SESSION_NAMES.some((name) => cookie.startsWith(`${name}=`)));
  if (!session || token === undefined) throw new GatewayError("no_session");
  return { id: `session:${session.id}`, secret: token };
}

/** A text of method, path and body. The order of members does not change it. */
function describe({ method, url }: Request, body: unknown): string {
  return JSON.stringify([method, new URL(url).pathname, sortMembers(body)]);
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => [name, sortMembers(member)]);
}

function deriveKey(secret: string, idempotencyKey: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, idempotencyKey, "tollgate idempotent answer", 32));
}

function encrypt({ secret, requestDigest }: Claim, text: string): string {
  const iv = platform.randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, secret, iv).setAAD(Buffer.from(requestDigest));
  const sealed = [cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([iv, cipher.getAuthTag(), ...sealed]).toString("base64");
}

/** Throws `conflict` for an answer that another credential has encrypted. */
function readAnswer(claim: Claim, stored: string): string {
  try {
    return decrypt(claim, stored);
  } catch (reason) {
    throw new GatewayError("conflict", { reason });
  }
}

function decrypt({ secret, requestDigest }: Claim, stored: string): string {
  const bytes = Buffer.from(stored, "base64");
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, IV_BYTES));
  decipher.setAAD(Buffer.from(requestDigest)).setAuthTag(tag);
  const parts = [decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
  return Buffer.concat(parts).toString("utf8");
}
