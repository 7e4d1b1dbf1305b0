import { createHmac, timingSafeEqual } from "node:crypto";

/** Time from the last renewal of a session to its expiry. */
export const SESSION_S = 14 * 24 * 60 * 60;

/** Name and attributes of the session's cookie. */
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
export interface SentCookie {
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
