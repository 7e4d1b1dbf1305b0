import type { ToolCallPart } from "../../../domain/chat-request.ts";
import { type CallArguments, readCallArguments } from "../../call-arguments.ts";
import type { ValueBudget } from "../../json/bounds.ts";
import { isTooDeep } from "../../json/depth.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { refuse, refuseUntranslatable, requireName } from "../../request-body.ts";
import { requireObject, requireText } from "./read-member.ts";

/** What must be known of the whole conversation to read one of its calls. */
export interface History {
  /** Ids of calls whose results are in it. */
  readonly answered: ReadonlySet<unknown>;
  readonly budget: ValueBudget;
}

/** The tool calls of an assistant's message. Throws `untranslatable` for one in the old form, as for what asks for it. */
export function readHistoryCalls(
  message: JsonObject,
  path: string,
  history: History,
): readonly ToolCallPart[] {
  const { tool_calls: calls, function_call: oldCall } = message;
  if (isSet(oldCall)) refuseUntranslatable(`${path}.function_call`);
  if (!isSet(calls)) return [];
  if (!Array.isArray(calls)) refuse(`${path}.tool_calls`);
  return calls.map((call: unknown, index) => readCall(call, `${path}.tool_calls[${index}]`, history));
}

function readCall(call: unknown, path: string, { answered, budget }: History): ToolCallPart {
  if (!isJsonObject(call)) refuse(path);
  if (isSet(call.type) && call.type !== "function") refuseUntranslatable(`${path}.type`);
  const { name, arguments: said } = requireObject(call, "function", path);
  const id = requireText(call, "id", path);
  const place = `${path}.function.arguments`;
  return {
    kind: "tool_call",
    id,
    name: requireName(name, `${path}.function.name`),
    input: readArguments({ said, path: place, isAnswered: answered.has(id) }, budget),
    cache: undefined,
  };
}

/** Some clients say them as the object itself. */
function readArguments(given: CallArguments, budget: ValueBudget): string {
  const { said, path } = given;
  if (isJsonObject(said)) return isTooDeep(said) ? refuse(path) : JSON.stringify(said);
  return readCallArguments(given, budget);
}
