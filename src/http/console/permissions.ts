import type { Role } from "../../accounts/audit-trail.ts";

/** Roles inside an account. `acting` is a platform operator in a logged session inside the account. */
type AccountRole = Role | "acting";

/**
 * Who may call a route: `public` everybody, `self` every signed-in person, `account` the listed roles of the
 * account in the path, `operator` platform operators. With a one-time password a person may call only
 * public routes and those with `allowsOneTimePassword`.
 */
export type Permission =
  | { readonly scope: "public" }
  | { readonly scope: "self"; readonly allowsOneTimePassword?: boolean }
  | {
      readonly scope: "account";
      readonly roles: readonly AccountRole[];
      /** Whether management keys of the platform, owners everywhere else, are refused, and those made with them. */
      readonly isPrivate?: boolean;
    }
  | { readonly scope: "operator" };

const everyone = inAccount("owner", "developer", "viewer", "acting");
const owners = inAccount("owner");
const insiders = { ...inAccount("owner", "developer"), isPrivate: true } as const;

/** What each need of a route requires. Guard, API description and the test of all roles are made from it. */
export const PERMISSIONS = {
  public: { scope: "public" },
  self: { scope: "self" },
  /** What a person with a one-time password needs to replace it. */
  password: { scope: "self", allowsOneTimePassword: true },
  operator: { scope: "operator" },

  "account.read": everyone,
  "account.write": inAccount("owner", "acting"),
  "keys.read": everyone,
  // No operator gets a secret of an account, which would outlive the 30 minutes of acting in it.
  "keys.create": inAccount("owner", "developer"),
  "keys.rotate": inAccount("owner", "developer"),
  /** Developers change the keys that they created; an operator who acts inside an account makes bounds narrower. */
  "keys.write": inAccount("owner", "developer", "acting"),
  "projects.read": everyone,
  /** Owners alone change projects and their limits. */
  "projects.write": owners,
  "wallet.read": everyone,
  "wallet.write": owners,
  "usage.read": everyone,
  "requests.read": everyone,
  /** What clients and models wrote is for the account alone: no operator reads it or has it kept. */
  "recordings.read": insiders,
  "recordings.write": insiders,
  "models.read": everyone,
  playground: inAccount("owner", "developer"),
  "members.read": everyone,
  "member_limits.read": everyone,
  "member_limits.write": owners,
  /** An operator who acts inside an account with an owner takes rights, and gives none. */
  "members.write": inAccount("owner", "acting"),
  "links.read": inAccount("owner", "acting"),
  "links.write": owners,
  "audit.read": inAccount("owner", "acting"),
  "notices.read": everyone,
  "notices.write": inAccount("owner", "acting"),
  /** The secret and the whole address of a webhook. */
  "notices.secrets": owners,
  "management_keys.read": inAccount("owner", "acting"),
  "management_keys.write": owners,
} as const satisfies Record<string, Permission>;

export type Need = keyof typeof PERMISSIONS;
/** A need that is granted in the account of the path. */
export type AccountNeed = Exclude<Need, "public" | "self" | "password" | "operator">;

function inAccount<const Roles extends readonly AccountRole[]>(...roles: Roles) {
  return { scope: "account", roles } as const;
}
