import { GatewayError } from "../../errors.ts";
import type { ValueEdit } from "../json/edit.ts";
import { findMiscased, isJsonObject, isSet, type JsonObject } from "../json/read.ts";

const THREAD_KEYS = new Set(["type", "previous_message_id"]);
const CONTAINER_KEYS = new Set(["id"]);

/**
 * Refuses what only Anthropic's store could bring in, whoever of the operator's users it came from. Throws
 * `thread_not_stored` for a thread that is continued and `nothing_stored` for a container or message of before. A new
 * container may be asked for, with skills or without.
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
 * Whether a thread is to be begun. The tool runners of Anthropic's SDKs ask so by default, with the whole conversation:
 * nobody misses it, as they send that again when a thread is not found.
 */
export function isNewThread(thread: unknown): boolean {
  return isJsonObject(thread) && thread.type === "create";
}

/** Takes a new thread out of a body. */
export const dropNewThread: ValueEdit = (text) =>
  text !== undefined && isNewThread(JSON.parse(text)) ? undefined : text;

/** Every type but `create` counts, also an unknown one. Anthropic refuses an object without a type by itself. */
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
