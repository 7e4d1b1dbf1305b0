import { GatewayError } from "../../errors.ts";
import type { ValueEdit } from "../json/edit.ts";
import { findMiscased, isJsonObject, isSet, type JsonObject } from "../json/read.ts";

const THREAD_KEYS = new Set(["type", "previous_message_id"]);
const CONTAINER_KEYS = new Set(["id"]);

/**
 * Rejects references to data that Anthropic stored for the operator's account, which may belong to another
 * user. Throws `thread_not_stored` for a continued thread, and `nothing_stored` for an earlier container or
 * message. A new container is accepted, with or without skills.
 *
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/code-execution-tool
 */
export function rejectStored(body: JsonObject, repeatsKeys: boolean): void {
  const { thread, container, previous_message_id: previous } = body;
  if (isSet(thread) && continuesThread(thread))
    throw new GatewayError("thread_not_stored", { path: "thread" });
  if (isSet(previous)) throw new GatewayError("nothing_stored", { path: "previous_message_id" });
  if (isSet(container) && namesContainer(container, repeatsKeys)) {
    throw new GatewayError("nothing_stored", { path: "container" });
  }
}

/**
 * Returns whether the `thread` field asks for a new thread, as the tool runners of Anthropic's SDKs do by
 * default. The field can be dropped: they send the whole conversation, and again if a thread is not found.
 */
export function isNewThread(thread: unknown): boolean {
  return isJsonObject(thread) && thread.type === "create";
}

/** Drops a new thread from a body. */
export const dropNewThread: ValueEdit = (text) =>
  text !== undefined && isNewThread(JSON.parse(text)) ? undefined : text;

/** Returns whether `thread` continues a thread. Every set type but `create` does, unknown ones included. */
function continuesThread(thread: unknown): boolean {
  if (!isJsonObject(thread)) return true;
  if (isSet(thread.previous_message_id) || findMiscased(thread, THREAD_KEYS) !== undefined) return true;
  return isSet(thread.type) && !isNewThread(thread);
}

function namesContainer(container: unknown, repeatsKeys: boolean): boolean {
  if (!isJsonObject(container)) return true;
  if (findMiscased(container, CONTAINER_KEYS) !== undefined) return true;
  return repeatsKeys ? container.id !== undefined : isSet(container.id);
}
