import type { Account } from "../accounts/accounts.ts";
import { findKeys } from "../accounts/keys/keys.ts";
import { FILTER_SCOPES_MAX, type Scope } from "../domain/scope.ts";
import { CommandError } from "./command.ts";
import { requireProject } from "./project.ts";
import type { Storage } from "./storage.ts";

/** Selects requests by what they count for. Each option that is given must be met. */
export interface ScopeOptions {
  /** Id or name of a project. */
  readonly project?: string;
  /** An end user, as receipts name it. */
  readonly user?: string;
  /** Each of the form "key=value". */
  readonly tag?: readonly string[];
  readonly scope?: readonly Scope[];
}

/** Reads what requests must count for. Throws for more than a query takes. */
export async function findScopes(
  storage: Storage,
  account: Account,
  { project, user, tag = [], scope = [] }: ScopeOptions,
): Promise<readonly Scope[]> {
  const scopes: Scope[] = [...scope, ...tag.map((id) => ({ kind: "tag", id }) as const)];
  if (project !== undefined) {
    scopes.push({ kind: "project", id: (await requireProject(storage, account, project)).id });
  }
  if (user !== undefined) scopes.push({ kind: "end_user", id: user });
  if (scopes.length <= FILTER_SCOPES_MAX) return scopes;
  throw new CommandError(`Expected at most ${FILTER_SCOPES_MAX} of --project, --user, --tag and --scope.`, 2);
}

/** Finds a key of an account by its id, hint or secret; `undefined` for no text. */
export async function findAccountKey(
  { database }: Storage,
  accountId: string,
  text: string | undefined,
): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const [key, ...others] = (await findKeys(database, text)).filter((each) => each.accountId === accountId);
  if (!key) throw new CommandError("The account has no such key.");
  if (others.length > 0) throw new CommandError("The hint stands for several keys, name one by its id.");
  return key.id;
}
