import { Elysia } from "elysia";
import { type Account, findAccount } from "../../accounts/accounts.ts";
import type { Actor, Role } from "../../accounts/audit-trail.ts";
import { isOfPlatform } from "../../accounts/keys/management-keys.ts";
import { findRole } from "../../accounts/people/members.ts";
import type { Database } from "../../db/database.ts";
import { GatewayError } from "../../errors.ts";
import { type AccountNeed, type Need, PERMISSIONS, type Permission } from "./permissions.ts";
import { contextOf } from "./request-context.ts";

/** What finds the sender of a request, and the account of its path. */
export interface GuardParts {
  readonly database: Database;
  identify(request: Request, address: string | undefined): Promise<Actor | undefined>;
  readonly now: () => number;
}

/** How long a password counts as given. */
const CONFIRMED_MS = 15 * 60_000;

/** The account of a path, and the caller's role in it. */
export interface AccountAccess {
  readonly account: Account;
  readonly role: Role | "acting";
}

interface Access {
  readonly actor: Actor | undefined;
  readonly access: AccountAccess | undefined;
}

/** The parts of a request that the guard reads. */
interface Guarded {
  readonly request: Request;
  /** Absent on a route without parameters. */
  readonly params?: Record<string, string>;
}

/**
 * Adds to routes what their caller must be: `needs` a permission in the account of the path, `needsSession`,
 * `needsOperator`, or `isPublic`. Checked before the body is validated. Handlers get `actor`, and under
 * `needs` also `account` and `role`. Throws `no_session`, `not_permitted`, or `unknown_item` for an account
 * that the caller cannot see. `confirmed` also requires a password given lately; else `not_confirmed`.
 */
export function createGuard(parts: GuardParts, group: string) {
  const granted = new WeakMap<Request, Access>();
  const check = async (name: Need, { request, params }: Guarded) => {
    granted.set(request, await decide(parts, PERMISSIONS[name], { request, accountId: params?.account }));
  };
  const actorOnly = (name: "self" | "password" | "operator") => ({
    detail: describeNeed(name),
    transform: (context: Guarded) => check(name, context),
    resolve: ({ request }: { request: Request }) => {
      const actor = granted.get(request)?.actor;
      if (!actor) throw new GatewayError("no_session");
      return { actor };
    },
  });
  const requireConfirmation = (actor: Actor | undefined) => {
    if (!actor) throw new GatewayError("no_session");
    if (!isConfirmed(actor, parts.now())) throw new GatewayError("not_confirmed");
  };
  return new Elysia({ name: "console-guard", seed: group }).macro({
    needs: (name: AccountNeed) => ({
      detail: describeNeed(name),
      transform: (context: Guarded) => check(name, context),
      resolve: ({ request }: { request: Request }) => {
        const { actor, access } = granted.get(request) ?? {};
        if (!actor || !access) throw new GatewayError("no_session");
        return { actor, ...access };
      },
    }),
    /** What a route does, in the description of the API, where it stands in the group. */
    summary: (summary: string) => ({ detail: { tags: [group], summary } }),
    /** Of a route that answers a repetition with the same `idempotency-key` as it answered the first request. */
    isIdempotent: { detail: { "x-idempotent": true } as Record<string, unknown> },
    needsSession: actorOnly("self"),
    needsOperator: actorOnly("operator"),
    /** Like `needsSession`, also for a person whose one-time password is not replaced yet. */
    needsPassword: actorOnly("password"),
    /** Asks for the password unless it was given in the last 15 minutes. Management keys have none. */
    confirmed: {
      detail: { "x-confirmed": true } as Record<string, unknown>,
      resolve: ({ request }: { request: Request }) => {
        requireConfirmation(granted.get(request)?.actor);
        return {};
      },
    },
    isPublic: {
      detail: describeNeed("public"),
      transform: (context: Guarded) => check("public", context),
      resolve: ({ request }: { request: Request }) => ({ actor: granted.get(request)?.actor }),
    },
  });
}

/** Whether the actor gave its password in the last 15 minutes, or is a management key. */
export function isConfirmed({ kind, session }: Actor, nowMs: number): boolean {
  if (kind === "management_key") return true;
  const ageMs = nowMs - (session?.confirmedAtMs ?? Number.NEGATIVE_INFINITY);
  // A time ahead of the clock, which was set back, must not count for ever.
  return ageMs >= 0 && ageMs < CONFIRMED_MS;
}

/** Whether a person must replace a one-time password, or set up a second factor, before anything else. */
export function isHeldBack({ session }: Pick<Actor, "session">): boolean {
  return session?.mustChangePassword === true || session?.mustSetUpFactor === true;
}

/** Shown in the description of the API; the tests of all roles read it. */
function describeNeed(name: Need): Record<string, unknown> {
  return { "x-needs": name };
}

async function decide(
  parts: GuardParts,
  permission: Permission,
  { request, accountId = "" }: { readonly request: Request; readonly accountId: string | undefined },
): Promise<Access> {
  const actor = await parts.identify(request, contextOf(request).address);
  if (permission.scope === "public") return { actor, access: undefined };
  if (!actor) throw new GatewayError("no_session");
  const isAllowed = permission.scope === "self" && permission.allowsOneTimePassword;
  if (isHeldBack(actor) && !isAllowed) throw new GatewayError("not_permitted");
  if (permission.scope === "self") return { actor, access: undefined };
  if (permission.scope === "operator") {
    if (!actor.isOperator) throw new GatewayError("not_permitted");
    return { actor, access: undefined };
  }
  const access = await findAccess(parts, actor, accountId);
  if (!access) throw new GatewayError("unknown_item");
  if (!permission.roles.includes(access.role)) throw new GatewayError("not_permitted");
  const isProgram = permission.isPrivate && actor.kind === "management_key";
  if (isProgram && (actor.isOperator || (await isOfPlatform(parts.database, actor.id))))
    throw new GatewayError("not_permitted");
  return { actor, access };
}

/** `undefined` for an account that the actor cannot see, so that ids cannot be probed. */
async function findAccess(
  { database, now }: GuardParts,
  actor: Actor,
  accountId: string,
): Promise<AccountAccess | undefined> {
  const role = await findRole(database, actor, { accountId, nowMs: now() });
  if (!role) return undefined;
  const account = await findAccount(database, accountId);
  return account?.id === accountId ? { account, role } : undefined;
}
