import { createHmac, timingSafeEqual } from "node:crypto";
import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { readCookieSecret } from "./cookie-secret.ts";
import { type CookieForm, findCookie, printCookie } from "./session-cookie.ts";

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
