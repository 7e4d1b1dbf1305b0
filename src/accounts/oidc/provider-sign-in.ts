// The story of a sign-in at a provider: begun in a browser, answered by the provider, finished in the same browser.
import { safePath } from "../../domain/console-path.ts";
import { isSameIssuer, type SignInProvider, type SignInRules } from "../../domain/sign-in-rules.ts";
import { GatewayError } from "../../errors.ts";
import type { Actor, SessionState } from "../audit-trail.ts";
import { confirmSession } from "../people/sessions.ts";
import type { Visitor } from "../people/sign-in.ts";
import { trustedSessionOf } from "../people/throttle.ts";
import {
  NotAdmitted,
  notAdmittedAs,
  type Problem,
  type ProviderSignInParts,
  signIn,
  type Visit,
} from "./admission.ts";
import { type Claims, isAdmitted } from "./claims.ts";
import { beginFlow, bondsOf, type Flow, isStateOf, type Purpose, readFlowCookie, takeFlow } from "./flows.ts";
import { findIdentity, linkIdentity } from "./identities.ts";
import { CLOCK_SKEW_S } from "./providers.ts";

/** The most time from a person's proof at the provider to its answer. */
const PROOF_AGE_MAX_S = 600;

/** Where the browser goes on, with the cookies that it gets. */
export type Finished =
  | { readonly problem: Problem; readonly purpose: Purpose; readonly next: string; readonly fault?: unknown }
  | { readonly next: string; readonly purpose: Purpose; readonly cookie?: string | undefined };

interface Begin {
  readonly provider: string;
  readonly purpose: Purpose;
  readonly next?: string | undefined;
  readonly invitation?: string | undefined;
  /** The signed-in person, for a link or a proof. */
  readonly actor?: Actor | undefined;
}

/**
 * Begins a sign-in at a provider. Returns the address to go to, and the cookie that binds the answer to this browser.
 * Rejects with `unknown_item` for an unknown provider, and with `upstream_unavailable` while it cannot be reached.
 */
export async function beginAtProvider(
  parts: ProviderSignInParts,
  { address }: Visitor,
  { provider: id, purpose, next, invitation, actor }: Begin,
): Promise<{ readonly location: string; readonly cookie: string }> {
  const provider = requireProvider(parts.rules(), id);
  const sessionId = actor?.session?.id;
  if (purpose !== "sign-in" && sessionId === undefined) throw new GatewayError("no_session");
  const trusted = trustedSessionOf(actor?.session);
  return parts.throttle("provider", { address, trusted }, async () => {
    const flow = {
      provider: id,
      purpose,
      next: safePath(next),
      sessionId,
      begunAtMs: parts.now(),
      invitation,
    };
    const { bonds, cookie } = await beginFlow(parts.database, parts.publicUrl(), flow);
    const location = await parts.providers.addressOf(provider, bonds, purpose === "confirm").catch(refuse);
    return { location, cookie };
  });
}

/**
 * Returns the address at which a browser signs out at the provider that opened its session, and comes back from;
 * `undefined` where the file does not ask for it, or the provider has no such address.
 */
export async function signOutAddress(
  { providers, rules, publicUrl }: ProviderSignInParts,
  { issuer }: Pick<SessionState, "issuer">,
): Promise<string | undefined> {
  const provider = rules().providers.find(
    (each) => each.rpInitiatedLogout && isSameIssuer(each.issuer, issuer),
  );
  return provider && providers.signOutAddressOf(provider, `${publicUrl()}/console/sign-in`);
}

function refuse(fault: unknown): never {
  if (fault instanceof GatewayError) throw fault;
  const message = "The sign-in provider cannot be reached.";
  throw new GatewayError("upstream_unavailable", { message, reason: fault });
}

function requireProvider({ providers }: SignInRules, id: string): SignInProvider {
  const provider = providers.find((each) => each.id === id);
  if (!provider) throw new GatewayError("unknown_item");
  return provider;
}

interface Answered {
  readonly provider: string;
  /** The query that the provider sent the browser back with, with its question mark. */
  readonly query: string;
  readonly actor: Actor | undefined;
}

/**
 * Finishes a sign-in by the answer of a provider. An answer counts once, in the browser that began it. Failures count
 * against the address, as wrong passwords do.
 */
export async function finishAtProvider(
  parts: ProviderSignInParts,
  visitor: Visitor,
  answered: Answered,
): Promise<Finished> {
  const sent = readFlowCookie(visitor.headers, parts.publicUrl());
  const state = new URLSearchParams(answered.query).get("state") ?? "";
  const unknown = { purpose: "sign-in", next: "/" } as const;
  // Not counted: another site can send a browser here.
  if (!sent || !isStateOf(sent.secret, state)) return { ...unknown, problem: "expired" };
  const taken: { flow?: Flow } = {};
  const failed = (problem: Problem, fault?: unknown) => ({ ...unknown, ...taken.flow, problem, fault });
  try {
    const attempt = { address: visitor.address, trusted: trustedSessionOf(answered.actor?.session) };
    return await parts.throttle("guess", attempt, async () => {
      const flow = await takeFlow(parts.database, { ...sent, provider: answered.provider }, parts.now());
      if (!flow) throw new NotAdmitted("expired");
      taken.flow = flow;
      const visit = { parts, visitor, flow, actor: answered.actor, invitation: sent.invitation };
      const cookie = await finish(visit, { ...answered, secret: sent.secret });
      return { next: nextOf(flow, sent.invitation), purpose: flow.purpose, cookie };
    });
  } catch (fault) {
    if (fault instanceof NotAdmitted) return failed(fault.problem);
    if (fault instanceof GatewayError && fault.kind === "sign_in_throttled") return failed("throttled");
    if (isDenied(fault)) return failed("denied");
    return failed("provider", fault);
  }
}

/** A person who is known accepts an invitation on its page, which needs the token of the link again. */
function nextOf({ purpose, next }: Flow, invitation: string | undefined): string {
  const isAccepting = purpose === "sign-in" && next === "/accept" && invitation !== undefined;
  return isAccepting ? `/accept?token=${invitation}` : next;
}

/** Whether the person said no at the provider, or the provider to the person. */
function isDenied(fault: unknown): boolean {
  return fault instanceof Error && "error" in fault && fault.error === "access_denied";
}

/** Returns the cookie of a new session; `undefined` where the present one goes on. */
async function finish(
  visit: Visit,
  { query, secret }: { readonly query: string; readonly secret: string },
): Promise<string | undefined> {
  const { parts, flow } = visit;
  const provider = parts.rules().providers.find(({ id }) => id === flow.provider);
  if (!provider) throw new NotAdmitted("expired");
  const wantsProof = flow.purpose === "confirm" && provider.confirmBy === "auth_time";
  const bonds = bondsOf(secret, parts.publicUrl(), provider.id);
  const maxAgeS = wantsProof ? PROOF_AGE_MAX_S : undefined;
  const claims = await parts.providers.redeem(provider, bonds, { query, maxAgeS });
  if (!isAdmitted(provider, claims)) throw new NotAdmitted("domain");
  if (flow.purpose === "confirm") return confirm(visit, claims, wantsProof);
  if (flow.purpose === "link") return link(visit, claims);
  return signIn(visit, provider, claims);
}

/** Records a new proof in the session that asked for it, by an identity of its person. */
async function confirm(
  { parts, flow, actor }: Visit,
  claims: Claims,
  wantsProof: boolean,
): Promise<undefined> {
  const { database, now } = parts;
  const sessionId = requireSession(flow, actor);
  const identity = await findIdentity(database, database.db, claims);
  if (identity?.personId !== actor?.id) throw new NotAdmitted("other_person");
  const earliestMs = flow.begunAtMs - CLOCK_SKEW_S * 1_000;
  if (wantsProof && (claims.provenAtMs ?? 0) < earliestMs) throw new NotAdmitted("not_fresh");
  await confirmSession(database, sessionId, now());
}

/** Links an identity to the person whose session asked for it. */
async function link({ parts, flow, actor }: Visit, claims: Claims): Promise<undefined> {
  const { database, now } = parts;
  requireSession(flow, actor);
  if (!actor) throw new NotAdmitted("expired");
  const identity = { personId: actor.id, provider: flow.provider, claims, actor };
  await database
    .transact(async (tx) => {
      await linkIdentity(database, tx, identity, now());
    })
    .catch(notAdmittedAs("linked"));
}

/** The answer counts in the session that asked alone: another one may be of another person. */
function requireSession({ sessionId }: Flow, actor: Actor | undefined): string {
  if (sessionId === undefined || actor?.session?.id !== sessionId) throw new NotAdmitted("expired");
  return sessionId;
}
