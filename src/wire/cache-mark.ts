import type { CacheMark } from "../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "./json-read.ts";

/** Anthropic's cache mark of a block, part or tool, if it has one; hosts of its models take them in chat too. */
export function readCacheMark({ cache_control: mark }: JsonObject): CacheMark | undefined {
  if (!isJsonObject(mark)) return undefined;
  return { ttl: mark.ttl === "5m" || mark.ttl === "1h" ? mark.ttl : undefined };
}
