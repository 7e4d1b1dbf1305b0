import { findKeyProjects } from "../accounts/find-items.ts";
import type { Database } from "../db/database.ts";
import { causesOf, codeOf } from "../refusals/explain.ts";
import { type RefusalDimension, type RefusalSum, sumRefusals } from "../refusals/reads.ts";
import { bucketMsOf, type Group, type UsageView } from "./view.ts";

/** What refused requests are counted by. They know their key, their model and their cause alone. */
const REFUSAL_DIMENSIONS: Readonly<Record<Group, RefusalDimension | undefined>> = {
  account: "account",
  key: "key",
  model: "model",
  upstream: undefined,
  outcome: "cause",
  // That of their key.
  project: "key",
  member: undefined,
  end_user: undefined,
  tag: undefined,
  run: undefined,
  parent_key: undefined,
};

/** Counts refused requests of a view, which have reached no upstream. */
export async function readRefused(database: Database, view: UsageView): Promise<readonly RefusalSum[]> {
  const { accountId, range, by, group, offsetHours } = view;
  const { keyId, model, upstream, outcome, scopes = [] } = view.filter;
  const causes = outcome === undefined ? undefined : causesOf(outcome);
  // Refused requests are counted by key, cause and model alone.
  if (upstream !== undefined || scopes.length > 0 || causes?.length === 0) return [];
  const grouping = {
    bucketMs: by && bucketMsOf(by),
    offsetMs: offsetHours * bucketMsOf("hour"),
    dimension: group && REFUSAL_DIMENSIONS[group],
  };
  const sums = await sumRefusals(database, { accountId, ...range, keyId, model, causes }, grouping);
  if (group === "project") return byProject(database, accountId, sums);
  return group === "outcome" ? sums.map((sum) => ({ ...sum, group: codeOf(sum.group ?? "") })) : sums;
}

/** Counts refused requests for the projects of their keys; those of several keys, whose group is empty, for none. */
async function byProject(
  database: Database,
  accountId: string | undefined,
  sums: readonly RefusalSum[],
): Promise<readonly RefusalSum[]> {
  if (accountId === undefined) return sums;
  const keys = sums.flatMap(({ group }) => (group === undefined ? [] : [group]));
  const projects = await findKeyProjects(database, accountId, keys);
  return sums.map((sum) => ({ ...sum, group: sum.group && (projects.get(sum.group) ?? accountId) }));
}
