// Whom the answer of a provider admits: a person with this identity, or a new one by an invitation, a group, or an open sign-up.
import type { SignInProvider, SignInRules } from "../../domain/sign-in-rules.ts";
import { GatewayError } from "../../errors.ts";
import { platform } from "../../platform.ts";
import type { Actor } from "../audit-trail.ts";
import { findInvitation } from "../people/invitation-links.ts";
import { prepareSession } from "../people/open-session.ts";
import { findPerson } from "../people/people.ts";
import { boundSessions } from "../people/sessions.ts";
import type { Visitor } from "../people/sign-in.ts";
import { createPerson, type SignUpParts } from "../people/sign-up.ts";
import type { Throttle } from "../people/throttle.ts";
import { type Claims, findRights } from "./claims.ts";
import type { Flow } from "./flows.ts";
import { applyGroupRights, type PresentRights, resolveRights } from "./group-rights.ts";
import { findIdentity, type Identity, linkIdentity, touchIdentity } from "./identities.ts";
import type { Providers } from "./providers.ts";

export interface ProviderSignInParts
  extends Pick<SignUpParts, "database" | "ledger" | "mails" | "policy" | "now"> {
  readonly providers: Providers;
  readonly throttle: Throttle;
  readonly rules: () => SignInRules;
  readonly publicUrl: () => string;
}

/** Why a sign-in at a provider led to no session. The page of the sign-in has a sentence for each. */
export type Problem =
  | "expired"
  | "denied"
  | "provider"
  | "no_account"
  | "no_address"
  | "address_taken"
  | "domain"
  | "other_person"
  | "not_fresh"
  | "linked"
  | "invitation"
  | "throttled";

/** Ends a sign-in without a session, for a reason that its page names. */
export class NotAdmitted extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem);
    this.problem = problem;
  }
}

/** A sign-in that is being finished. */
export interface Visit {
  readonly parts: ProviderSignInParts;
  readonly visitor: Visitor;
  readonly flow: Flow;
  readonly actor: Actor | undefined;
  readonly invitation: string | undefined;
}

/** Signs in the person of an identity, who may be a new one. Returns the cookie of the session. */
export async function signIn(visit: Visit, provider: SignInProvider, claims: Claims): Promise<string> {
  const { database } = visit.parts;
  const rights = await resolveRights(database, findRights(provider, claims.groups));
  const known = await findIdentity(database, database.db, claims);
  if (known) return enter(visit, { provider, claims, rights, identity: known });
  await admit(visit, { provider, claims, rights });
  const identity = await findIdentity(database, database.db, claims);
  if (!identity) throw new Error("A person was admitted without an identity");
  return enter(visit, { provider, claims, rights, identity });
}

interface Arrival {
  readonly provider: SignInProvider;
  readonly claims: Claims;
  readonly rights: PresentRights;
}

/** Reads the groups anew, and opens a session that ends before they are too old. */
async function enter(
  { parts, visitor }: Visit,
  { provider, claims, rights, identity }: Arrival & { readonly identity: Identity },
): Promise<string> {
  const { database, now, publicUrl } = parts;
  const nowMs = now();
  const session = {
    personId: identity.personId,
    visitor,
    identityId: identity.id,
    lastsMs: provider.sessionMs,
    // A proof counts from when it was given: the provider may have known the person for days.
    confirmedAtMs: claims.provenAtMs === undefined ? undefined : Math.min(claims.provenAtMs, nowMs),
  };
  const { cookie, write } = await prepareSession(database, publicUrl(), session, nowMs);
  await database.transact(async (tx) => {
    // It may have been unlinked since it was found.
    const present = await findIdentity(database, tx, claims);
    if (present?.id !== identity.id) throw new NotAdmitted("expired");
    await touchIdentity(database, tx, { identity, provider: provider.id, claims }, nowMs);
    await applyGroupRights(database, tx, { identity, rights }, nowMs);
    await write(tx);
  });
  await boundSessions(database, identity.personId);
  return cookie;
}

/**
 * Creates the person of an identity that is not known: by an invitation for its address, by a right of its groups, or
 * where everybody may sign up. An address that a person has here is never enough: others could claim it elsewhere.
 */
async function admit(visit: Visit, { provider, claims, rights }: Arrival): Promise<void> {
  const { parts, visitor } = visit;
  const { database, now } = parts;
  const hasRights = rights.isOperator || rights.roles.size > 0;
  const invitation = await findInvitationFor(visit, claims);
  if (!hasRights && invitation === undefined && parts.policy() !== "open")
    throw new NotAdmitted("no_account");
  const { email } = claims;
  if (email === undefined) throw new NotAdmitted("no_address");
  if (await findPerson(database, email)) throw new NotAdmitted("address_taken");
  const id = platform.uuidV7(now());
  const person = {
    id,
    email,
    name: claims.name ?? email,
    isEmailVerified: claims.isEmailVerified,
    passwordHash: undefined,
    hasRights,
    invitation,
  };
  const create = () =>
    createPerson(parts, visitor, {
      ...person,
      created: async (tx, actor) => {
        const identity = { personId: id, provider: provider.id, claims, actor };
        await linkIdentity(database, tx, identity, now());
      },
    });
  // The bound of new people holds at this entrance too.
  const attempt = { address: visitor.address, subject: email };
  await parts.throttle("sign-up", attempt, create).catch(async (fault: unknown) => {
    // Two answers for one new identity came at once: the other has created the person.
    if (await findIdentity(database, database.db, claims)) return;
    return notAdmittedAs("address_taken")(fault);
  });
}

/** Returns the token of an open invitation for the address. Where sign-up is closed, an invitation admits no one new. */
async function findInvitationFor({ parts, invitation }: Visit, claims: Claims): Promise<string | undefined> {
  if (invitation === undefined || parts.policy() === "closed") return undefined;
  const found = await findInvitation(parts.database, invitation, parts.now());
  if (!found || found.invitation.email !== claims.email) throw new NotAdmitted("invitation");
  return invitation;
}

export function notAdmittedAs(problem: Problem): (fault: unknown) => never {
  return (fault) => {
    throw fault instanceof GatewayError && fault.kind === "conflict" ? new NotAdmitted(problem) : fault;
  };
}
