import { findNames } from "../accounts/find-items.ts";
import type { Project } from "../accounts/projects.ts";
import type { Database } from "../db/database.ts";
import { chunksOf } from "../domain/chunks.ts";
import { DAY_MS } from "../domain/id-time.ts";
import type { Scope } from "../domain/scope.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { SpendLimitUsage } from "../ledger/records.ts";
import { OTHER_SCOPES, type UsageRow } from "../ledger/usage-records.ts";
import { NO_SUMS, type Sums, subtractSums, sumsOf } from "./sums.ts";

/** What the usage of a project may be divided by. */
export type ProjectGroup = "key" | "member" | "end_user" | "model";

/** One key, person, end user or model that used a project. */
interface ProjectSpender {
  /** `null`: the requests that name none. */
  readonly id: string | null;
  readonly name: string | null;
  readonly sums: Sums;
  /** What the limit of each end user has counted for this one. */
  readonly limit: SpendLimitUsage | undefined;
}

/** Who used a project since a time, the dearest first. */
export interface ProjectUsage {
  readonly fromMs: number;
  readonly total: Sums;
  readonly spenders: readonly ProjectSpender[];
  /** All that are not in the list. */
  readonly others: Sums;
}

interface Parts {
  readonly database: Database;
  readonly ledger: Pick<Ledger, "usage" | "spendLimits">;
  readonly now: () => number;
}

const DAYS = 30;
const SHOWN_MAX = 100;
/** Scopes of one read of limits, beside that of the project. */
const SCOPES_OF_READ = 15;
/** A key that no hold has: its limits are those of the scopes that are asked for. */
const NO_KEY = "-";

/** Reads who used a project in the last 30 days: the 100 dearest, and all others as one. */
export async function readProjectUsage(
  parts: Parts,
  project: Pick<Project, "id" | "accountId">,
  group: ProjectGroup,
): Promise<ProjectUsage> {
  const fromMs = parts.now() - DAYS * DAY_MS;
  const scope = { kind: "project", id: project.id } as const;
  const query = { walletId: project.accountId, scopes: [scope], fromMs };
  const [whole, dearest] = await Promise.all([
    parts.ledger.usage({ ...query, groupBy: [] }),
    parts.ledger.usage({ ...query, groupBy: [group], dearestMax: SHOWN_MAX }),
  ]);
  const named = dearest.rows.filter(({ group: { [group]: value } }) => value !== OTHER_SCOPES);
  const shown = named.map((row) => ({ id: idOf(row, group), sums: sumsOf(row, 0) }));
  const [first] = whole.rows;
  const total = first ? sumsOf(first, 0) : NO_SUMS;
  const ids = shown.flatMap(({ id }) => id ?? []);
  const [names, limits] = await Promise.all([
    nameSpenders(parts, project, { group, ids }),
    group === "end_user" ? readLimits(parts, project, ids) : new Map<string, SpendLimitUsage>(),
  ]);
  return {
    fromMs,
    total,
    spenders: shown.toSorted(compareCosts).map(({ id, sums }) => ({
      id,
      name: id === null ? null : (names.get(id) ?? null),
      sums,
      limit: id === null ? undefined : limits.get(id),
    })),
    others: shown.reduce((rest, { sums }) => subtractSums(rest, sums), total),
  };
}

function compareCosts(
  { sums: { cost: one } }: Pick<ProjectSpender, "sums">,
  { sums: { cost: other } }: Pick<ProjectSpender, "sums">,
): number {
  return one < other ? 1 : one > other ? -1 : 0;
}

function idOf({ group: values }: UsageRow, group: ProjectGroup): string | null {
  const value = values[group];
  return value === undefined || value === null ? null : String(value);
}

async function nameSpenders(
  { database }: Parts,
  { accountId: walletId }: Pick<Project, "accountId">,
  { group, ids }: { readonly group: ProjectGroup; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  if (group !== "key" && group !== "member") return new Map(ids.map((id) => [id, id]));
  return findNames(
    database,
    walletId,
    ids.map((id) => ({ kind: group, id })),
  );
}

/** Reads what the limit of each end user has counted, by end user. */
async function readLimits(
  { ledger }: Parts,
  { id, accountId }: Pick<Project, "id" | "accountId">,
  endUsers: readonly string[],
): Promise<ReadonlyMap<string, SpendLimitUsage>> {
  const found = new Map<string, SpendLimitUsage>();
  for (const users of chunksOf(endUsers, SCOPES_OF_READ)) {
    const scopes: readonly Scope[] = [
      { kind: "project", id },
      ...users.map((user) => ({ kind: "end_user" as const, id: user })),
    ];
    for (const limit of await ledger.spendLimits(accountId, NO_KEY, scopes)) {
      if (limit.each === "end_user" && limit.subject !== undefined) found.set(limit.subject, limit);
    }
  }
  return found;
}
