import { Elysia, type Static, status, t } from "elysia";
import type { Account } from "../../accounts/accounts.ts";
import type { Actor } from "../../accounts/audit-trail.ts";
import { createOnce } from "../../accounts/idempotency.ts";
import { createProject, type ProjectChanges, updateProject } from "../../accounts/project-changes.ts";
import { countProjectKeys, findProject, listProjects, type Project } from "../../accounts/projects.ts";
import { limitAmong, type SpendingLimit } from "../../accounts/spending-limits.ts";
import { printTime } from "../../domain/id-time.ts";
import { printUsd } from "../../domain/money.ts";
import { GatewayError } from "../../errors.ts";
import type { SpendLimitUsage } from "../../ledger/records.ts";
import { type SpendLimitState, unspentLimit } from "../../usage/forecast/bound-keys.ts";
import { name } from "./accounts/shapes.ts";
import type { PartsOf } from "./console-parts.ts";
import { describeConflict } from "./errors.ts";
import { createGuard } from "./guard.ts";
import { printSpendingLimit } from "./keys/print.ts";
import { readSpendingLimit } from "./keys/read-spending-limit.ts";
import { accountParams, period, projectId, spendingLimit, spendingLimitBody } from "./keys/shapes.ts";
import { conflictWith, id, listOf, time, usd } from "./shapes.ts";

type Parts = PartsOf<"ledger">;

/** A limit of each of many: their counters are read with each of them. */
export const templateLimit = t.Object({ amount_usd: usd, period, time_zone: t.Nullable(t.String()) });

const project = t.Object({
  id: t.String({ description: "that of the account for its default project" }),
  name: t.String(),
  is_default: t.Boolean(),
  created_at: time,
  archived_at: t.Nullable(time),
  version: t.Integer(),
  keys: t.Integer({ description: "keys that are not revoked, without those that keys made" }),
  spending_limit: t.Nullable(spendingLimit),
  end_user_limit: t.Nullable(templateLimit),
});
type ProjectView = Static<typeof project>;

const limitsBody = {
  spending_limit: t.Optional(t.Nullable(spendingLimitBody)),
  end_user_limit: t.Optional(t.Nullable(spendingLimitBody)),
};
const newProjectBody = t.Object({ name, ...limitsBody });
/** Members that are absent stay as they are; null removes a limit. */
const projectChangeBody = t.Object({
  version: t.Integer({ minimum: 1 }),
  name: t.Optional(name),
  is_archived: t.Optional(t.Boolean({ description: "an archived project takes no new keys" })),
  ...limitsBody,
});
const projectParams = t.Object({ account: id, project: projectId });

/** The projects of an account, with their limits. */
export function projectsRoutes(parts: Parts) {
  return new Elysia()
    .use(createGuard(parts, "Projects"))
    .get("/accounts/:account/projects", ({ account }) => list(parts, account), {
      summary: "List the projects, the default one first",
      needs: "projects.read",
      params: accountParams,
      response: listOf(project),
    })
    .post("/accounts/:account/projects", (context) => create(parts, context), {
      summary: "Create a project",
      isIdempotent: true,
      needs: "projects.write",
      params: accountParams,
      body: newProjectBody,
      response: project,
    })
    .get(
      "/accounts/:account/projects/:project",
      async ({ account, params }) =>
        view(parts, account, await requireProject(parts, account, params.project)),
      { summary: "Read a project", needs: "projects.read", params: projectParams, response: project },
    )
    .patch("/accounts/:account/projects/:project", (context) => edit(parts, context), {
      summary: "Change, archive or restore a project",
      needs: "projects.write",
      params: projectParams,
      body: projectChangeBody,
      response: { 200: project, 409: conflictWith(project) },
    });
}

async function requireProject({ database }: Parts, account: Account, wanted: string): Promise<Project> {
  const found = await findProject(database, account, wanted);
  if (!found) throw new GatewayError("unknown_item");
  return found;
}

/** A request that changes a project, as the guard admitted it. */
interface ProjectEdit<Body> {
  readonly request: Request;
  readonly account: Account;
  readonly actor: Actor;
  readonly params: { readonly project: string };
  readonly body: Body;
}

/** Creates a project, once per `idempotency-key`. */
function create(
  parts: Parts,
  { request, account, actor, body }: Omit<ProjectEdit<Static<typeof newProjectBody>>, "params">,
): Promise<ProjectView> {
  const wanted = {
    accountId: account.id,
    name: body.name,
    spendingLimit: readSpendingLimit(body.spending_limit) ?? undefined,
    endUserLimit: readSpendingLimit(body.end_user_limit, "end_user_limit") ?? undefined,
  };
  const spendingLimit = wanted.spendingLimit && unspentLimit(wanted.spendingLimit, parts.now());
  const limits = { spendingLimit, endUserLimit: wanted.endUserLimit };
  const print = (created: Project) => printProject(created, { keys: 0, ...limits });
  return createOnce<ProjectView>(parts, { request, body }, actor, async (keep) =>
    print(await createProject({ ...parts, actor }, wanted, (tx, created) => keep(tx, print(created)))),
  );
}

/** Changes a project; an edit without a change keeps its version. Answers 409 when another edit came first. */
async function edit(
  parts: Parts,
  { account, actor, params, body }: ProjectEdit<Static<typeof projectChangeBody>>,
) {
  const read = await requireProject(parts, account, params.project);
  const changes: ProjectChanges = {
    name: body.name,
    isArchived: body.is_archived,
    spendingLimit: readSpendingLimit(body.spending_limit),
    endUserLimit: readSpendingLimit(body.end_user_limit, "end_user_limit"),
  };
  try {
    const isChange = Object.values(changes).some((value) => value !== undefined);
    if (!isChange && read.version !== body.version) throw new GatewayError("conflict");
    const version = { ...read, version: body.version };
    const changed = isChange ? await updateProject({ ...parts, actor }, version, changes) : read;
    return await view(parts, account, changed);
  } catch (fault) {
    if (!(fault instanceof GatewayError) || fault.kind !== "conflict") throw fault;
    const current = await view(parts, account, await requireProject(parts, account, read.id));
    return status(409, { error: describeConflict(), current });
  }
}

async function list(parts: Parts, account: Account) {
  const { database, ledger } = parts;
  const [projects, keys, limits] = await Promise.all([
    listProjects(database, account),
    countProjectKeys(database, account.id),
    ledger.spendLimits(account.id),
  ]);
  return {
    items: projects.map((each) =>
      printProject(each, { keys: keys.get(each.id) ?? 0, ...limitsOf(each, limits) }),
    ),
  };
}

async function view({ database, ledger }: Parts, account: Account, shown: Project): Promise<ProjectView> {
  const [keys, limits] = await Promise.all([
    countProjectKeys(database, account.id),
    ledger.spendLimits(account.id),
  ]);
  return printProject(shown, { keys: keys.get(shown.id) ?? 0, ...limitsOf(shown, limits) });
}

interface ProjectFacts {
  readonly keys: number;
  readonly spendingLimit: SpendLimitState | undefined;
  readonly endUserLimit: SpendingLimit | undefined;
}

function limitsOf({ id: projectId }: Project, limits: readonly SpendLimitUsage[]) {
  return {
    spendingLimit: limitAmong(limits, { kind: "project", projectId }),
    endUserLimit: limitAmong(limits, { kind: "each_end_user", projectId }),
  };
}

function printProject(shown: Project, { keys, spendingLimit, endUserLimit }: ProjectFacts): ProjectView {
  return {
    id: shown.id,
    name: shown.name,
    is_default: shown.id === shown.accountId,
    created_at: printTime(shown.createdAtMs),
    archived_at: printTime(shown.archivedAtMs),
    version: shown.version,
    keys,
    spending_limit: spendingLimit ? printSpendingLimit(spendingLimit) : null,
    end_user_limit: endUserLimit ? printTemplate(endUserLimit) : null,
  };
}

export function printTemplate({ amount, period, timeZone }: SpendingLimit): Static<typeof templateLimit> {
  return { amount_usd: printUsd(amount), period, time_zone: timeZone ?? null };
}
