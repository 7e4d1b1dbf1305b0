import { type SignedIn, signIn } from "../browser/world/signed-in.ts";
import { runTollgate } from "../cli/run-tollgate.ts";
import type { LedgerClient } from "./ledger-client.ts";
import { LIMITS, type LimitPlan } from "./reckoning.ts";
import { type AccountName, FUNDS, KEYS, type KeyName } from "./script.ts";

const PASSWORD = "correct horse battery";
const ACCOUNTS: readonly AccountName[] = ["north", "south"];
const PROJECTS = { north: ["search", "support"], south: ["shop"] } as const;
const PEOPLE = { north: ["ada", "ben", "cho"], south: ["dov", "eva"] } as const;

/** The accounts of the month as the product knows them: ids by the names of the script. */
export interface Company {
  readonly operator: SignedIn;
  /** The owner of each account. A session ends before the month does: see {@link signInAgain}. */
  readonly owners: Record<AccountName, SignedIn>;
  readonly accountIds: Readonly<Record<AccountName, string>>;
  /** Ids by "account kind name", such as "north project search". */
  readonly ids: ReadonlyMap<string, string>;
  readonly secrets: ReadonlyMap<KeyName, string>;
}

interface Tools {
  readonly url: string;
  /** The working folder of the command line, and its environment. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly grpc: LedgerClient;
}

/** Makes accounts, people, projects, limits and keys: by the console's API, the command line and gRPC. */
export async function foundCompany(tools: Tools): Promise<Company> {
  const operator = await newOperator(tools);
  const ids = new Map<string, string>();
  const sessions = new Map<string, SignedIn>();
  const accountIds = { north: "", south: "" };
  for (const name of ACCOUNTS) {
    const { id } = await operator.call("POST", "/accounts", { name });
    accountIds[name] = id;
    ids.set(`${name} project default`, id);
    const topUp = { walletId: id, topUpId: "funds", amountNanos: String(FUNDS[name]) };
    await tools.grpc.call("CreateTopUp", topUp);
    for (const person of PEOPLE[name]) {
      const member = await join(tools.url, operator, { accountId: id, person });
      sessions.set(person, member.session);
      ids.set(`${name} member ${person}`, member.id);
    }
  }
  const owners = { north: sessions.get("ada") ?? operator, south: sessions.get("dov") ?? operator };
  for (const name of ACCOUNTS) await furnish(tools, owners[name], { name, accountId: accountIds[name], ids });
  const secrets = await makeKeys(tools, { accountIds, ids, sessions });
  for (const limit of LIMITS.filter(({ on, each }) => !each && (!on || on.startsWith("tag "))))
    await tools.grpc.call("SetSpendLimit", { limit: printLimit(limit, accountIds[limit.account]) });
  return { operator, owners, accountIds, ids, secrets };
}

/** Opens new sessions of the owners. */
export async function signInAgain(url: string, { owners }: Pick<Company, "owners">): Promise<void> {
  for (const name of ACCOUNTS)
    owners[name] = await signIn(url, { email: `${PEOPLE[name][0]}@example.com`, password: PASSWORD });
}

async function newOperator({ url, folder, environment }: Tools): Promise<SignedIn> {
  const email = "ops@example.com";
  const made = await runTollgate(folder, ["operator", "create", "--email", email, "--json"], environment);
  const password = String(made.json().one_time_password);
  return signIn(url, { email, password, newPassword: PASSWORD });
}

/** A person joins an account by the link of an invitation. */
async function join(
  url: string,
  operator: SignedIn,
  { accountId, person }: { readonly accountId: string; readonly person: string },
): Promise<{ readonly id: string; readonly session: SignedIn }> {
  const email = `${person}@example.com`;
  const path = `/accounts/${accountId}/invitations`;
  const { link } = await operator.call("POST", path, { email, role: "owner" });
  const invitation = new URL(link).searchParams.get("token") ?? "";
  const signedUp = await fetch(`${url}/console/api/sign-up`, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin", "content-type": "application/json" },
    body: JSON.stringify({ name: person, email, password: PASSWORD, invitation }),
  });
  if (!signedUp.ok) throw new Error(`no person ${person}: ${await signedUp.text()}`);
  const session = await signIn(url, { email, password: PASSWORD });
  return { id: (await session.call("GET", "/me")).person.id, session };
}

interface Furnished {
  readonly name: AccountName;
  readonly accountId: string;
  readonly ids: Map<string, string>;
}

/** Projects, limits of projects and members, and the keys of tags. */
async function furnish(_tools: Tools, owner: SignedIn, { name, accountId, ids }: Furnished): Promise<void> {
  const at = `/accounts/${accountId}`;
  for (const project of PROJECTS[name]) {
    const made = await owner.call("POST", `${at}/projects`, {
      name: project,
      spending_limit: bodyOf(find(name, `project ${project}`)),
      end_user_limit: bodyOf(find(name, `project ${project}`, "end_user")),
    });
    ids.set(`${name} project ${project}`, made.id);
  }
  const each = find(name, undefined, "member");
  if (each) await owner.call("PUT", `${at}/member-limits`, { spending_limit: bodyOf(each) });
  for (const person of PEOPLE[name]) {
    const own = find(name, `member ${person}`);
    const path = `${at}/member-limits/${ids.get(`${name} member ${person}`)}`;
    if (own) await owner.call("PUT", path, { spending_limit: bodyOf(own) });
  }
  await owner.call("PATCH", `${at}/attribution`, { tag_keys: ["feature", "team"] });
}

interface KeyMaking {
  readonly accountIds: Company["accountIds"];
  readonly ids: Map<string, string>;
  readonly sessions: ReadonlyMap<string, SignedIn>;
}

/** A member makes a key in the console, a key makes a child, and all others come from the command line. */
async function makeKeys(tools: Tools, { accountIds, ids, sessions }: KeyMaking) {
  const secrets = new Map<KeyName, string>();
  for (const [name, { account, project, member, under }] of Object.entries(KEYS) as [
    KeyName,
    (typeof KEYS)[KeyName],
  ][]) {
    const limit = find(account, `key ${name}`);
    const session = member ? sessions.get(member) : undefined;
    const projectId = ids.get(`${account} project ${project}`);
    const made = under
      ? await makeChild(tools, secrets.get(under) ?? "", name, limit)
      : session
        ? await session.call("POST", `/accounts/${accountIds[account]}/keys`, {
            name,
            project_id: projectId,
            allows_children: true,
            spending_limit: bodyOf(limit),
          })
        : await makeByCommand(tools, { name, account, project, limit });
    secrets.set(name, made.secret);
    ids.set(`${account} key ${name}`, made.key?.id ?? made.id);
    ids.set(`${account} parent_key ${name}`, made.key?.id ?? made.id);
  }
  return secrets;
}

async function makeChild({ url }: Tools, secret: string, name: string, limit: LimitPlan | undefined) {
  const made = await fetch(`${url}/v1/key/children`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({
      name,
      spending_limit_usd: usd(limit?.amount ?? 0n),
      period: limit?.period,
      expires_in_s: 30 * 86_400,
    }),
  });
  const answer = await made.json();
  if (!made.ok) throw new Error(`no child ${name}: ${JSON.stringify(answer)}`);
  return answer as { readonly id: string; readonly secret: string; readonly key?: { id: string } };
}

async function makeByCommand(
  { folder, environment }: Tools,
  {
    name,
    account,
    project,
    limit,
  }: { name: string; account: string; project: string; limit: LimitPlan | undefined },
) {
  const limited = limit ? ["--spending-limit", usd(limit.amount), "--reset", limit.period] : [];
  const placed = project === "default" ? [] : ["--project", project];
  const line = ["key", "create", "--account", account, "--name", name, ...placed, ...limited, "--json"];
  const made = await runTollgate(folder, line, environment);
  const { id, key: secret } = made.json();
  return { id: String(id), secret: String(secret), key: undefined };
}

function find(account: AccountName, on: string | undefined, each?: LimitPlan["each"]): LimitPlan | undefined {
  return LIMITS.find((limit) => limit.account === account && limit.on === on && limit.each === each);
}

function bodyOf(limit: LimitPlan | undefined): object | null {
  if (!limit) return null;
  const zone = limit.offsetHours === undefined ? {} : { time_zone: "Europe/Berlin" };
  return { amount_usd: usd(limit.amount), period: limit.period, ...zone };
}

function printLimit({ id, period, amount, on }: LimitPlan, walletId: string): object {
  const scope = on ? { scope: { kind: "SCOPE_KIND_TAG", id: on.slice("tag ".length) } } : {};
  const name = `SPEND_LIMIT_PERIOD_${period.toUpperCase()}`;
  return { walletId, limitId: id, period: name, amountNanos: String(amount), ...scope };
}

/** Nano-USD as decimal USD. */
export function usd(nanos: bigint): string {
  return `${nanos / 1_000_000_000n}.${String(nanos % 1_000_000_000n).padStart(9, "0")}`;
}
