import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";
import { resolveRange } from "../ranges.ts";

export type Project = ItemOf<typeof projectsQuery>;
export type ProjectUsage = DataOf<typeof projectUsageQuery>;
export type ProjectSpender = ItemOf<typeof projectUsageQuery>;
export type ProjectGroup = "key" | "member" | "end_user" | "model";
export type MemberLimit = ItemOf<typeof memberLimitsQuery>;

const CALM_MS = 30_000;
const STALE_MS = 60_000;

/** The projects of an account, its default one first. */
export const projectsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "projects"],
    queryFn: () => call(() => api.accounts({ account }).projects.get()),
  });

/** One project with what its budget has counted. */
export const projectQuery = (account: string, project: string) =>
  queryOptions({
    queryKey: ["account", account, "projects", project],
    queryFn: () => call(() => api.accounts({ account }).projects({ project }).get()),
    refetchInterval: CALM_MS,
  });

/** Who used a project in the last 30 days. */
export const projectUsageQuery = (account: string, project: string, group: ProjectGroup) =>
  queryOptions({
    queryKey: ["account", account, "projects", project, "usage", group],
    queryFn: () =>
      call(() => api.accounts({ account }).projects({ project }).usage.get({ query: { group } })),
    staleTime: STALE_MS,
  });

/** The active keys of a project. */
export const projectKeysQuery = (account: string, project: string) => {
  const query = { project, state: "active", size: 100, offset_h: resolveRange({}).offsetHours } as const;
  return queryOptions({
    queryKey: ["account", account, "keys", "project", project],
    queryFn: () => call(() => api.accounts({ account }).keys.get({ query })),
  });
};

/** What members may spend over all keys that they made. */
export const memberLimitsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "members", "limits"],
    queryFn: () => call(() => api.accounts({ account })["member-limits"].get()),
  });
