import type { Limits } from "../../limiter/limiter.ts";
import type { ApiKey } from "./key.ts";

/** Whether a key may do anything that it might not before. */
export function isWider(before: ApiKey, after: ApiKey, defaults: Limits): boolean {
  const hasMoreModels = hasOthers(after.models, before.models);
  const hasMoreTiers = hasOthers(after.tiers, before.tiers);
  const lastsLonger = (after.expiresAtMs ?? Infinity) > (before.expiresAtMs ?? Infinity);
  const hasMoreOf = (name: keyof Limits) =>
    (after.limits[name] ?? defaults[name] ?? Infinity) > (before.limits[name] ?? defaults[name] ?? Infinity);
  const hasMore = LIMITS.some(hasMoreOf);
  const mayMore =
    (before.forbidsPaidTools && !after.forbidsPaidTools) ||
    (after.allowsClamp && !before.allowsClamp) ||
    (after.allowsChildren && !before.allowsChildren);
  // Another project may have wider limits.
  const isMoved = after.projectId !== before.projectId;
  return hasMoreModels || hasMoreTiers || lastsLonger || hasMore || mayMore || isMoved;
}

/** Whether a list has what another lacks; an absent list has everything. */
function hasOthers(list: readonly string[] | undefined, allowed: readonly string[] | undefined): boolean {
  return allowed !== undefined && !list?.every((each) => allowed.includes(each));
}

const LIMITS = ["requestsPerMinute", "tokensPerMinute", "concurrentRequests"] as const;
