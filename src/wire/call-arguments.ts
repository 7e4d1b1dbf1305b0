import type { ValueBudget } from "./json/bounds.ts";
import { isTooDeep } from "./json/depth.ts";
import { isSet, PIECE_MAX, parseJsonObject } from "./json/read.ts";
import { measureJson } from "./json/scan.ts";
import { refuse } from "./request-body.ts";

/** What a call in a conversation says its arguments are, and where in the body. */
export interface CallArguments {
  readonly said: unknown;
  readonly path: string;
  /** Whether the conversation has a result of the call. */
  readonly isAnswered: boolean;
}

/**
 * The arguments of a call as a text of a JSON object; none are an empty one. Of a call that was answered, a text of
 * anything else was written by the model and is wrapped in an object, so that the conversation can go on.
 * Throws `wrong_shape` for what is no text, nests too deep, is over the budget, or is no object and not answered.
 */
export function readCallArguments({ said, path, isAnswered }: CallArguments, budget: ValueBudget): string {
  const read = readObjectText(said, path, budget);
  if (read !== undefined) return read;
  return isAnswered ? JSON.stringify({ unreadable_arguments: said }) : refuse(path);
}

function readObjectText(said: unknown, path: string, budget: ValueBudget): string | undefined {
  if (!isSet(said)) return "{}";
  if (typeof said !== "string") refuse(path);
  if (said.trim() === "") return "{}";
  // What is inside of a string was not counted with the body.
  const measured = measureJson(said, PIECE_MAX);
  if (!measured || !budget.spend(measured.values)) refuse(path);
  const parsed = parseJsonObject(said, PIECE_MAX);
  return parsed !== undefined && isTooDeep(parsed) ? refuse(path) : parsed && said;
}
