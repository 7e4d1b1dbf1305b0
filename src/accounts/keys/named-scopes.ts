import { eq, inArray } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { DEFAULT_PROJECT_NAME } from "../projects.ts";
import type { ApiKey } from "./key.ts";
import type { NamedScope } from "./own-keys.ts";

/** Names the keys above a key, its project, and the person who made it. */
export async function nameScopes(database: Database, key: ApiKey): Promise<readonly NamedScope[]> {
  const { db, tables } = database;
  const { apiKeys, people, projects } = tables;
  const projectId = key.projectId ?? key.accountId;
  const [above, [project], [person]] = await Promise.all([
    key.parentIds.length === 0
      ? []
      : db
          .select({ id: apiKeys.id, name: apiKeys.name })
          .from(apiKeys)
          .where(inArray(apiKeys.id, [...key.parentIds])),
    db.select({ name: projects.name }).from(projects).where(eq(projects.id, projectId)),
    key.createdBy === undefined
      ? []
      : db.select({ id: people.id, name: people.name }).from(people).where(eq(people.id, key.createdBy)),
  ]);
  return [
    ...above.map((parent) => ({ kind: "parent_key" as const, ...parent })),
    { kind: "project", id: projectId, name: project?.name ?? DEFAULT_PROJECT_NAME },
    ...(person ? [{ kind: "member" as const, ...person }] : []),
  ];
}
