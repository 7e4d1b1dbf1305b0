import type { CacheMark } from "../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "./json/read.ts";

/** Anthropic's cache mark of a block, part, tool or whole request, if it has one; hosts of its models take them in chat too. */
export function readCacheMark({ cache_control: mark }: JsonObject): CacheMark | undefined {
  if (!isJsonObject(mark)) return undefined;
  return { ttl: mark.ttl === "5m" || mark.ttl === "1h" ? mark.ttl : undefined };
}

/** A cache mark as a member of a block, part or tool; no member without one. */
export function printCacheMark(cache: CacheMark | undefined) {
  if (!cache) return {};
  const { ttl } = cache;
  return { cache_control: { type: "ephemeral", ...(ttl && { ttl }) } };
}
