import { timingSafeEqual } from "node:crypto";
import type { Database } from "../../db/database.ts";
import { createToken, digestOf } from "../keys/key.ts";
import { giveOnce, takeOnce } from "../people/once.ts";
import { type CookieForm, cookieFormOf, findCookie, printCookie } from "../people/session-cookie.ts";
import type { Bonds } from "./providers.ts";

/** How long a person may take at the provider. */
const FLOW_MS = 10 * 60_000;
const KIND = "oidc";

/** What a sign-in at a provider is for: a session, another identity of a person, or a new proof in a session. */
export type Purpose = "sign-in" | "link" | "confirm";

/** A sign-in that was begun in a browser. */
export interface Flow {
  readonly provider: string;
  readonly purpose: Purpose;
  /** The path below `/console` to go on to; checked. */
  readonly next: string;
  /** The session in which a link or a proof was asked for. */
  readonly sessionId?: string | undefined;
  readonly begunAtMs: number;
}

/** The secret of a flow, which the browser alone has, and the invitation that it brings along. */
interface SentFlow {
  readonly secret: string;
  readonly invitation: string | undefined;
}

const COOKIE = /^([\w-]{43})(?:\.([\w-]{43}))?$/;

/**
 * Stores a flow until it is taken, for ten minutes. The database gets digests; state, nonce and the verifier of PKCE are
 * made of the secret in the cookie, so that an answer counts in this browser alone.
 */
export async function beginFlow(
  database: Database,
  publicUrl: string,
  { invitation, ...flow }: Flow & { readonly invitation?: string | undefined },
): Promise<{ readonly bonds: Bonds; readonly cookie: string }> {
  const secret = createToken();
  await giveOnce(database, { kind: KIND, secret, value: flow, lastsMs: FLOW_MS }, flow.begunAtMs);
  const value = invitation === undefined ? secret : `${secret}.${invitation}`;
  const cookie = printCookie(value, formOf(publicUrl), FLOW_MS / 1_000);
  return { bonds: bondsOf(secret, publicUrl, flow.provider), cookie };
}

/** Reads the secret of a flow from the cookies of a request. */
export function readFlowCookie(headers: Headers, publicUrl: string): SentFlow | undefined {
  const value = findCookie(headers.get("cookie") ?? "", formOf(publicUrl).name);
  const [, secret, invitation] = COOKIE.exec(value ?? "") ?? [];
  return secret === undefined ? undefined : { secret, invitation };
}

export function removeFlowCookie(publicUrl: string): string {
  return printCookie("", formOf(publicUrl), 0);
}

/** Whether the state of an answer is that of a secret. Another site, which does not know the secret, makes none up. */
export function isStateOf(secret: string, state: string): boolean {
  return isEqual(state, stateOf(secret));
}

/** Takes the flow of a secret, once. `undefined` for an unknown, old or taken one, and for another provider. */
export async function takeFlow(
  database: Database,
  { secret, provider }: { readonly secret: string; readonly provider: string },
  nowMs: number,
): Promise<Flow | undefined> {
  // Safe because beginFlow alone gives values of this kind.
  const flow = (await takeOnce(database, { kind: KIND, secret }, nowMs)) as Flow | undefined;
  return flow?.provider === provider ? flow : undefined;
}

/** Returns what binds a provider's answer to the secret of a flow. */
export function bondsOf(secret: string, publicUrl: string, provider: string): Bonds {
  return {
    redirectUri: `${publicUrl}/console/api/oidc/${provider}/callback`,
    state: stateOf(secret),
    nonce: digestOf(`nonce:${secret}`),
    verifier: digestOf(`verifier:${secret}`),
  };
}

function stateOf(secret: string): string {
  return digestOf(`state:${secret}`);
}

function formOf(publicUrl: string): CookieForm {
  const { isSecure } = cookieFormOf(publicUrl);
  return { name: isSecure ? "__Secure-tollgate.oidc" : "tollgate.oidc", isSecure };
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
