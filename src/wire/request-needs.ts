import { CAPABILITIES, type Capability } from "../domain/model.ts";
import { isJsonObject } from "./json/read.ts";
import type { PartSize } from "./prompt-size.ts";

/** What a body asks for beside its media. */
interface Asked {
  readonly tools: boolean;
  readonly reasoning: boolean;
  /** Whether the answer must follow a JSON schema. */
  readonly schema: boolean;
}

/** Returns what a model must be able to do for a body, in the order of all lists; `undefined` for a plain one. */
export function needsOf(media: PartSize, asked: Asked): readonly Capability[] | undefined {
  const needs: Capability[] = [];
  if (asked.tools) needs.push("tools");
  if (media.images > 0) needs.push("images");
  if (media.isDocument) needs.push("documents");
  if (media.isAudio) needs.push("audio");
  if (asked.reasoning) needs.push("reasoning");
  if (asked.schema) needs.push("structured_output");
  return needs.length > 0 ? needs : undefined;
}

/** Adds abilities that are needed by what was not parsed again. */
export function joinNeeds(
  needs: readonly Capability[] | undefined,
  added: readonly Capability[],
): readonly Capability[] | undefined {
  if (added.length === 0) return needs;
  return CAPABILITIES.filter((each) => added.includes(each) || needs?.includes(each));
}

export function hasElements(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0;
}

/** Whether an effort asks for reasoning; "none" does not. */
export function asksForEffort(effort: unknown): boolean {
  return typeof effort === "string" && effort !== "none";
}

/** Whether a format of answers has a schema. Plain JSON needs no ability. */
export function isSchemaFormat(format: unknown): boolean {
  return isJsonObject(format) && format.type === "json_schema";
}
