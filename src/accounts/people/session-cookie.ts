import { createHmac, timingSafeEqual } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { readCookieSecret } from "../shared-secret.ts";

/** Time from the last renewal of a session to its expiry. */
export const SESSION_S = 14 * 24 * 60 * 60;

/** Name and attributes of a cookie. */
export interface CookieForm {
  readonly name: string;
  readonly isSecure: boolean;
}

/** Path of the cookie: no other path of the gateway receives it. */
export const COOKIE_PATH = "/console";
export const COOKIE_NAME = "tollgate.session";

/** Behind https the cookie is `Secure`. `__Host-` is impossible: that prefix requires the path `/`. */
export function cookieFormOf(publicUrl: string): CookieForm {
  const isSecure = publicUrl.startsWith("https://");
  return { name: isSecure ? `__Secure-${COOKIE_NAME}` : COOKIE_NAME, isSecure };
}

/** A session's cookie as a request carries it. */
interface SentCookie {
  /** The whole value, percent-encoded. */
  readonly value: string;
  /** The token, whose signature is not checked yet. */
  readonly token: string;
  readonly signature: string;
}

/** Reads the session's cookie: `TOKEN.SIGNATURE`, percent-encoded. `undefined` for any other form. */
export function readSessionCookie(headers: Headers, { name }: CookieForm): SentCookie | undefined {
  const value = findCookie(headers.get("cookie") ?? "", name);
  const [, token, signature] = /^([\w-]{16,128})\.([\w%+/=-]{20,200})$/.exec(value ?? "") ?? [];
  if (value === undefined || !token || !signature) return undefined;
  return { value, token, signature };
}

/** Whether our secret signed this cookie: a forged one costs no query. */
export function isSigned({ token, signature }: SentCookie, secret: string): boolean {
  const expected = Buffer.from(createHmac("sha256", secret).update(token).digest("base64"));
  const sent = Buffer.from(decode(signature));
  return sent.length === expected.length && timingSafeEqual(sent, expected);
}

/** Returns the value of a session's cookie: the form that the sign-in library reads. */
export async function signToken(database: Database, token: string): Promise<string> {
  const secret = await readCookieSecret(database);
  const signature = createHmac("sha256", secret).update(token).digest("base64");
  return encodeURIComponent(`${token}.${signature}`);
}

/** Prints the header that keeps a cookie for the time of a session, or removes it with `maxAgeS` 0. */
export function printCookie(
  value: string,
  { name, isSecure }: CookieForm,
  maxAgeS: number = SESSION_S,
): string {
  const secure = isSecure ? ["Secure"] : [];
  const attributes = [`Max-Age=${maxAgeS}`, `Path=${COOKIE_PATH}`, "HttpOnly", ...secure, "SameSite=Lax"];
  return [`${name}=${value}`, ...attributes].join("; ");
}

/** Returns the value of the first cookie of a name: browsers send the one of the longest path first. */
export function findCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(";")) {
    const [key, ...rest] = pair.trim().split("=");
    if (key === name) return rest.join("=");
  }
  return undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** How long a browser is known after a sign-in. */
const KNOWN_S = 90 * 24 * 60 * 60;

/** A browser that signed a person in. The cookie has both, and their signature. */
interface KnownDevice {
  readonly id: string;
  readonly untilS: number;
}

/**
 * Returns the cookie by which a browser is known to have signed a person in, for 90 days. It opens no session: failed
 * sign-ins of strangers for one e-mail do not count against it. Its signature covers the hash of the password, so that
 * a new password ends it.
 */
export async function printDeviceCookie(
  database: Database,
  { personId, form, nowMs }: { readonly personId: string; readonly form: CookieForm; readonly nowMs: number },
): Promise<string> {
  const { credentials } = database.tables;
  const isPerson = eq(credentials.userId, personId);
  const [row] = await database.db.select({ hash: credentials.password }).from(credentials).where(isPerson);
  const device = { id: Bun.randomUUIDv7(), untilS: Math.floor(nowMs / 1_000) + KNOWN_S };
  const signature = sign(await readCookieSecret(database), { ...device, personId, hash: row?.hash ?? "" });
  return printCookie(
    `${device.id}.${device.untilS}.${signature.toString("base64url")}`,
    deviceForm(form),
    KNOWN_S,
  );
}

/** Returns the id of a browser that signed in the person of this e-mail before; `undefined` for any other. */
export async function findKnownDevice(
  database: Database,
  { headers, form, email, nowMs }: { headers: Headers; form: CookieForm; email: string; nowMs: number },
): Promise<string | undefined> {
  const value = findCookie(headers.get("cookie") ?? "", deviceForm(form).name);
  const [, id, until, signature] = /^([\w-]{36})\.(\d{1,12})\.([\w-]{43})$/.exec(value ?? "") ?? [];
  const untilS = Number(until);
  if (!id || !signature || untilS * 1_000 <= nowMs) return undefined;
  const { people, credentials } = database.tables;
  const [row] = await database.db
    .select({ personId: people.id, hash: credentials.password })
    .from(people)
    .innerJoin(credentials, eq(credentials.userId, people.id))
    .where(eq(people.email, email));
  if (!row?.hash) return undefined;
  const expected = sign(await readCookieSecret(database), {
    id,
    untilS,
    personId: row.personId,
    hash: row.hash,
  });
  return timingSafeEqual(expected, Buffer.from(signature, "base64url")) ? id : undefined;
}

function deviceForm({ isSecure }: CookieForm): CookieForm {
  return { name: isSecure ? "__Secure-tollgate.device" : "tollgate.device", isSecure };
}

function sign(
  secret: string,
  { id, untilS, personId, hash }: KnownDevice & { readonly personId: string; readonly hash: string },
): Buffer {
  return createHmac("sha256", secret).update(`device:${id}:${untilS}:${personId}:${hash}`).digest();
}
