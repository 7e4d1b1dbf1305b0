import type { Database } from "../../db/database.ts";
import { isSameIssuer, NO_SIGN_IN_RULES, type SignInRules } from "../../domain/sign-in-rules.ts";
import type { Actor } from "../audit-trail.ts";
import { digestOf } from "../keys/key.ts";
import { findManagementKey } from "../keys/management-keys.ts";
import { hasSecondFactor, isRequired } from "../second-factor/second-factor.ts";
import { readCookieSecret } from "../shared-secret.ts";
import { isActing } from "./operators.ts";
import { cookieFormOf, isSigned, readSessionCookie } from "./session-cookie.ts";
import { AHEAD_MS_MAX, findSession, type Session, touchSession } from "./sessions.ts";

export interface IdentifyParts {
  readonly database: Database;
  /** Returns the origin of the console, on which the name of the cookie depends. */
  readonly publicUrl: () => string;
  readonly now: () => number;
  /** Returns how people may sign in. Default: by passwords alone. */
  readonly rules?: () => SignInRules;
  /** Called when the time of last use could not be written. */
  onFault(error: unknown): void;
}

/** Finds the sender of a request by its management key or its session; `undefined` without a valid one. */
export type Identify = (request: Request, address: string | undefined) => Promise<Actor | undefined>;

/**
 * Creates the function that identifies callers. A session costs one query. Every request reads it anew, so that
 * an ended session, another role or another operator counts at once.
 */
export function createIdentify(parts: IdentifyParts): Identify {
  const { database, publicUrl, now, onFault, rules = () => NO_SIGN_IN_RULES } = parts;
  const readSecret = once(() => readCookieSecret(database));
  return async ({ headers }, address) => {
    const authorization = headers.get("authorization");
    // A header that asks for another kind of authentication is not answered by a cookie beside it.
    if (authorization !== null) return identifyKey(database, authorization, { address, nowMs: now() });
    const sent = readSessionCookie(headers, cookieFormOf(publicUrl()));
    if (!sent || !isSigned(sent, await readSecret())) return undefined;
    const nowMs = now();
    const session = await findSession(database, digestOf(sent.token), nowMs);
    if (!session || !isStillOpen(rules(), session, nowMs)) return undefined;
    touchSession(database, session, nowMs).catch(onFault);
    const actor = actorOf(session, address, nowMs);
    return mayLackFactor(session) && isRequired(rules(), actor) ? withFactor(database, actor) : actor;
  };
}

/**
 * Whether the file still admits what opened a session: its provider, for as long as that has it, or a password or passkey
 * where none is required, or an operator's door is open for the person.
 */
function isStillOpen(rules: SignInRules, session: Session, nowMs: number): boolean {
  const { identityId, issuer, createdAtMs, person } = session;
  if (identityId === undefined) return !rules.requiresProvider || nowMs < (person.passwordUntilMs ?? 0);
  const ageMs = nowMs - createdAtMs;
  // One of a clock that was far ahead would otherwise last until then.
  return (
    ageMs >= -AHEAD_MS_MAX &&
    rules.providers.some((each) => isSameIssuer(each.issuer, issuer) && ageMs < each.sessionMs)
  );
}

/** Whether a password alone may have opened the session: providers ask for what they want, and passkeys for a person. */
function mayLackFactor({ identityId, way }: Session): boolean {
  return identityId === undefined && way === undefined;
}

/** Marks the session of a person that must set up a second factor first. */
async function withFactor(database: Database, actor: Actor): Promise<Actor> {
  const { session } = actor;
  if (!session || (await hasSecondFactor(database, actor.id))) return actor;
  return { ...actor, session: { ...session, mustSetUpFactor: true } };
}

const BEARER = /^bearer[ \t]+(\S+)[ \t]*$/i;

async function identifyKey(
  database: Database,
  authorization: string,
  { address, nowMs }: { readonly address: string | undefined; readonly nowMs: number },
): Promise<Actor | undefined> {
  const [, secret] = BEARER.exec(authorization) ?? [];
  const actor = secret && (await findManagementKey(database, secret, nowMs));
  return actor ? { ...actor, address } : undefined;
}

/** The actor of a session. */
function actorOf(session: Session, address: string | undefined, nowMs: number): Actor {
  const { person, acting, confirmedAtMs, identityId, issuer } = session;
  const { mustChangePassword, operatorIdentityId } = person;
  // The operator's right by groups counts in sessions of their provider alone.
  const isOperator = person.isOperator && (!operatorIdentityId || operatorIdentityId === identityId);
  return {
    kind: "person",
    id: person.id,
    name: person.email,
    isOperator,
    role: undefined,
    // A former operator does not act any more.
    acting: isOperator && acting && isActing(acting, nowMs) ? acting : undefined,
    session: { id: session.id, mustChangePassword, confirmedAtMs, identityId, issuer },
    address,
  };
}

/** Remembers the first value; a failure is not remembered. */
function once<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | undefined;
  return () => {
    reading ??= read().catch((error) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}
