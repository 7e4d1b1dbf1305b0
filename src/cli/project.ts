import type { Account } from "../accounts/accounts.ts";
import { setMemberLimit } from "../accounts/member-limits.ts";
import { findPerson } from "../accounts/people/people.ts";
import { createProject, type ProjectChanges, updateProject } from "../accounts/project-changes.ts";
import { countProjectKeys, findProject, listProjects, type Project } from "../accounts/projects.ts";
import { type LimitTarget, limitAmong, type SpendingLimit } from "../accounts/spending-limits.ts";
import { printTime } from "../domain/id-time.ts";
import { type Nanos, printUsd } from "../domain/money.ts";
import type { LimitPeriod } from "../domain/period.ts";
import { GatewayError } from "../errors.ts";
import type { SpendLimitUsage } from "../ledger/records.ts";
import { CommandError, type CommandResult } from "./command.ts";
import { printSpendLimit, printTable } from "./printing.ts";
import { requireAccount, type Storage } from "./storage.ts";

/** A spending limit as options name it. */
interface LimitOptions {
  readonly reset?: LimitPeriod;
  readonly timeZone?: string;
}

export interface ProjectCreateOptions extends LimitOptions {
  readonly account: string;
  readonly name: string;
  readonly spendingLimit?: Nanos;
}

export async function runProjectCreate(
  storage: Storage,
  { account: named, name, spendingLimit, ...limit }: ProjectCreateOptions,
): Promise<CommandResult> {
  if (limit.reset && spendingLimit === undefined) {
    throw new CommandError("--reset is the period of a spending limit: give --spending-limit too.", 2);
  }
  const account = await requireAccount(storage.database, named);
  const wanted = { accountId: account.id, name, spendingLimit: readLimit(spendingLimit, limit) };
  const project = await orExplain(createProject(storage, wanted), "The account has a project of this name.");
  return {
    json: await printProject(storage, account, project),
    text: `Created project ${project.name} (${project.id}) of account ${account.name}.`,
  };
}

export async function runProjectList(
  { database, ledger }: Storage,
  { account: named }: { readonly account: string },
): Promise<CommandResult> {
  const account = await requireAccount(database, named);
  const [projects, keys, limits] = await Promise.all([
    listProjects(database, account),
    countProjectKeys(database, account.id),
    ledger.spendLimits(account.id),
  ]);
  const printed = projects.map((project) => print(project, keys.get(project.id) ?? 0, limits));
  const rows = printed.map((each) => [
    each.id,
    each.name,
    each.archived_at === null ? "open" : `archived ${each.archived_at}`,
    String(each.keys),
    describeLimit(each.spending_limit),
    describeLimit(each.end_user_limit),
  ]);
  const titles = ["ID", "NAME", "STATE", "KEYS", "SPENDING LIMIT", "OF EACH END USER"];
  return { json: { projects: printed }, text: printTable(titles, rows) };
}

interface OneProject {
  readonly account: string;
}

export async function runProjectRename(
  storage: Storage,
  named: string,
  { account, name }: OneProject & { readonly name: string },
): Promise<CommandResult> {
  return change(storage, { account, named }, { name }, (project) => `Renamed project ${project.name}.`);
}

export async function runProjectArchive(
  storage: Storage,
  named: string,
  { account, restore = false }: OneProject & { readonly restore?: boolean },
): Promise<CommandResult> {
  return change(storage, { account, named }, { isArchived: !restore }, ({ name }) =>
    restore
      ? `Restored project ${name}.`
      : `Archived project ${name}: it takes no new keys; its keys stay in force.`,
  );
}

interface ProjectLimitOptions extends OneProject, LimitOptions {
  readonly amount: Nanos | false;
  readonly eachEndUser?: boolean;
}

export async function runProjectLimit(
  storage: Storage,
  named: string,
  { account, amount, eachEndUser = false, ...more }: ProjectLimitOptions,
): Promise<CommandResult> {
  const limit = readLimit(amount, more) ?? null;
  const changes = eachEndUser ? { endUserLimit: limit } : { spendingLimit: limit };
  const whose = eachEndUser ? "each end user of project" : "project";
  return change(storage, { account, named }, changes, ({ name }) =>
    limit ? `Limited ${whose} ${name}.` : `Removed the limit of ${whose} ${name}.`,
  );
}

interface MemberLimitOptions extends OneProject, LimitOptions {
  readonly amount: Nanos | false;
  readonly person?: string;
  readonly each?: boolean;
}

/** Limits one member, by e-mail address, or each member of an account. */
export async function runMemberLimit(
  storage: Storage,
  { account: named, amount, person: email, each = false, ...more }: MemberLimitOptions,
): Promise<CommandResult> {
  if (each === (email !== undefined))
    throw new CommandError("Name a member with --person, or give --each.", 2);
  const account = await requireAccount(storage.database, named);
  const person = email === undefined ? undefined : await findPerson(storage.database, email);
  if (email !== undefined && !person) throw new CommandError(`There is no person ${email}.`);
  const limit = readLimit(amount, more) ?? null;
  const target: LimitTarget = person ? { kind: "member", personId: person.id } : { kind: "each_member" };
  const wanted = { accountId: account.id, personId: person?.id, limit };
  await orExplain(setMemberLimit(storage, wanted), `${email} is no member of account ${account.name}.`);
  const set = limitAmong(await storage.ledger.spendLimits(account.id), target);
  const whose = person ? `member ${person.email}` : "each member";
  return {
    json: {
      account_id: account.id,
      person_id: person?.id ?? null,
      spending_limit: set ? printSpendLimit(set) : null,
    },
    text: limit
      ? `Limited ${whose} of account ${account.name}.`
      : `Removed the limit of ${whose} of account ${account.name}.`,
  };
}

function readLimit(
  amount: Nanos | false | undefined,
  { reset, timeZone }: LimitOptions,
): SpendingLimit | undefined {
  return typeof amount === "bigint" ? { amount, period: reset ?? "total", timeZone } : undefined;
}

async function change(
  storage: Storage,
  { account: of, named }: { readonly account: string; readonly named: string },
  changes: ProjectChanges,
  describe: (project: Project) => string,
): Promise<CommandResult> {
  const account = await requireAccount(storage.database, of);
  const project = await requireProject(storage, account, named);
  const because = "The name is taken, this is the default project, or another edit came first.";
  const changed = await orExplain(updateProject(storage, project, changes), because);
  return { json: await printProject(storage, account, changed), text: describe(changed) };
}

/** Finds a project of an account by its id or name. */
export async function requireProject(
  { database }: Storage,
  account: Account,
  named: string,
): Promise<Project> {
  const byId = await findProject(database, account, named);
  const project = byId ?? (await listProjects(database, account)).find(({ name }) => name === named);
  if (!project) throw new CommandError(`Account ${account.name} has no project "${named}".`);
  return project;
}

async function printProject({ database, ledger }: Storage, account: Account, project: Project) {
  const [keys, limits] = await Promise.all([
    countProjectKeys(database, account.id),
    ledger.spendLimits(account.id),
  ]);
  return print(project, keys.get(project.id) ?? 0, limits);
}

function print(project: Project, keys: number, limits: readonly SpendLimitUsage[]) {
  const { id: projectId, accountId, name, createdAtMs, archivedAtMs, version } = project;
  const own = limitAmong(limits, { kind: "project", projectId });
  const each = limitAmong(limits, { kind: "each_end_user", projectId });
  return {
    id: projectId,
    account_id: accountId,
    name,
    created_at: printTime(createdAtMs),
    archived_at: printTime(archivedAtMs),
    keys,
    spending_limit: own ? printSpendLimit(own) : null,
    end_user_limit: each ? { amount_usd: printUsd(each.amount), reset: each.period } : null,
    version,
  };
}

interface ShownLimit {
  readonly amount_usd: string;
  readonly reset: LimitPeriod;
  readonly used_usd?: string;
}

function describeLimit(limit: ShownLimit | null): string {
  if (!limit) return "none";
  const used = limit.used_usd === undefined ? "" : `${limit.used_usd} of `;
  return `${used}${limit.amount_usd} USD (${limit.reset})`;
}

async function orExplain<Result>(changing: Promise<Result>, because: string): Promise<Result> {
  return changing.catch((fault: unknown) => {
    if (!(fault instanceof GatewayError)) throw fault;
    if (fault.kind === "wrong_shape") throw new CommandError("There is no such time zone.", 2);
    if (fault.kind !== "conflict" && fault.kind !== "unknown_item") throw fault;
    throw new CommandError(because);
  });
}
