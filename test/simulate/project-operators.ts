import { issueKey } from "../../src/accounts/keys/keys.ts";
import { setMemberLimit } from "../../src/accounts/member-limits.ts";
import { createProject, updateProject } from "../../src/accounts/project-changes.ts";
import { isProject } from "../../src/accounts/projects.ts";
import type { SpendingLimit } from "../../src/accounts/spending-limits.ts";
import { GatewayError } from "../../src/errors.ts";
import { platform } from "../../src/platform.ts";
import { drawInteger, drawOne, type RandomSource } from "../support/seeded-random.ts";
import type { SimulatedGateway } from "./gateway.ts";
import type { World } from "./world.ts";

/** A project, as its operators know it. */
export interface SimulatedProject {
  readonly id: string;
  readonly walletId: string;
  /** The period of its limit, which it keeps, so that all its holds count. */
  readonly period: "total" | "day";
  readonly isLimited: boolean;
  isArchived: boolean;
  /** Operators that change it, or issue a key of it. */
  busy: number;
}

/** What an account's keys may count for. An account without projects and members counts for neither. */
export interface SimulatedOwner {
  readonly projects: readonly SimulatedProject[];
  readonly memberIds: readonly string[];
}

/** Gives some accounts projects and members, with limits, before they have keys. */
export async function createOwner(world: World, walletId: string): Promise<SimulatedOwner | undefined> {
  const { draw } = world.scheduler;
  if (draw() < 0.6) return undefined;
  const projects: SimulatedProject[] = [];
  for (let number = drawInteger(draw, 1, 2); number > 0; number -= 1)
    projects.push(await openProject(world, walletId, `project ${number}`));
  const memberIds = [`${walletId}-ada`, `${walletId}-ben`];
  await world.command("an operator adds members", (gateway) => addMembers(gateway, walletId, memberIds));
  const limits: (readonly [string | undefined, SpendingLimit])[] = [];
  if (draw() < 0.5) limits.push([undefined, drawLimit(draw, drawOne(draw, ["day", "total", "5h"] as const))]);
  if (draw() < 0.3) limits.push([memberIds[0], drawLimit(draw, "total")]);
  for (const [personId, limit] of limits) {
    const change = { accountId: walletId, personId, limit };
    await world.command("an operator limits members", ({ database, ledger }) =>
      setMemberLimit({ database, ledger }, change),
    );
  }
  return { projects, memberIds };
}

async function openProject(world: World, walletId: string, name: string): Promise<SimulatedProject> {
  const { draw } = world.scheduler;
  const period = drawOne(draw, ["total", "day"] as const);
  const spendingLimit = draw() < 0.6 ? drawLimit(draw, period) : undefined;
  const endUserLimit =
    draw() < 0.6 ? drawLimit(draw, drawOne(draw, ["total", "day", "1h"] as const)) : undefined;
  const id = await world.command("an operator creates a project", async ({ database, ledger }) => {
    const { projects } = database.tables;
    const rows = await database.db.select().from(projects);
    const stored = rows.find((row) => row.accountId === walletId && row.name === name);
    const project = { accountId: walletId, name, spendingLimit, endUserLimit };
    return (stored ?? (await createProject({ database, ledger }, project))).id;
  });
  return { id, walletId, period, isLimited: spendingLimit !== undefined, isArchived: false, busy: 0 };
}

function drawLimit(draw: RandomSource, period: SpendingLimit["period"]): SpendingLimit {
  return { amount: BigInt(drawInteger(draw, 300_000, 20_000_000)), period };
}

async function addMembers(
  { database }: Pick<SimulatedGateway, "database">,
  accountId: string,
  ids: readonly string[],
): Promise<void> {
  const { people, members } = database.tables;
  const nowMs = platform.now();
  const at = { createdAt: new Date(nowMs), updatedAt: new Date(nowMs) };
  await database.transact(async (tx) => {
    for (const id of ids) {
      const person = { id, name: id, email: `${id}@example.com`, ...at };
      await tx.insert(people).values(person).onConflictDoNothing();
      const member = { accountId, personId: id, role: "developer" as const, createdAtMs: nowMs };
      await tx.insert(members).values(member).onConflictDoNothing();
    }
  });
}

/** May change projects. */
export function strikeProjects(world: World): void {
  const { luck, scheduler } = world;
  const free = [...world.owners.values()]
    .flatMap((owner) => owner?.projects ?? [])
    .filter(({ busy }) => busy === 0);
  if (free.length === 0) return;
  const project = drawOne(scheduler.draw, free);
  if (luck.strikes("project_archived")) void whileBusy(project, () => archive(world, project));
  else if (luck.strikes("project_limit_changed")) void whileBusy(project, () => changeLimit(world, project));
}

/** Keeps other operators away from a project. */
export async function whileBusy<Result>(
  project: SimulatedProject | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!project) return work();
  project.busy += 1;
  try {
    return await work();
  } finally {
    project.busy -= 1;
  }
}

/** Archives a project, whose keys stay in force, tries a new key, and may restore it. */
async function archive(world: World, project: SimulatedProject): Promise<void> {
  const { draw } = world.scheduler;
  if (!project.isArchived) {
    await change(world, project, { isArchived: true });
    project.isArchived = true;
    await tryKey(world, project);
  }
  if (draw() < 0.5) return;
  await world.sleep(draw() * 20_000, "a project is archived");
  await change(world, project, { isArchived: false });
  project.isArchived = false;
}

/** An archived project takes no key. Whoever issues one must be told so. */
async function tryKey(world: World, { id: projectId, walletId: accountId }: SimulatedProject): Promise<void> {
  const [gateway] = world.alive();
  if (!gateway) return;
  const { database, ledger, machine } = gateway;
  const issue = () => issueKey({ database, ledger }, { accountId, projectId, name: "too late" });
  const refusal = await world
    .on(machine, "an operator issues a key of an archived project", issue)
    .then(() => "none")
    .catch((fault: unknown) => (fault instanceof GatewayError ? fault.kind : undefined));
  if (refusal === "none") world.model.report(`project ${projectId} is archived, and took a key`);
}

async function changeLimit(world: World, project: SimulatedProject): Promise<void> {
  const spendingLimit = drawLimit(world.scheduler.draw, project.period);
  // A project without a limit gets none: holds before it would not count.
  if (project.isLimited) await change(world, project, { spendingLimit });
}

async function change(
  world: World,
  { id, walletId: accountId }: SimulatedProject,
  changes: Parameters<typeof updateProject>[2],
): Promise<void> {
  await world.command("an operator changes a project", async ({ database, ledger }) => {
    const { projects } = database.tables;
    const [row] = await database.db.select().from(projects).where(isProject(database, { id, accountId }));
    if (!row) throw new Error(`Project ${id} is gone`);
    await updateProject({ database, ledger }, { id, accountId, version: row.version }, changes);
  });
}
