import type { ChatRequest, Tool, Turn } from "../../../domain/chat-request.ts";
import { printCacheMark } from "../../cache-mark.ts";
import { describeChoices, liftChoices } from "../../hoist-unions.ts";
import { isOpenSchema } from "./open-schema.ts";
import { acceptSchema } from "./strict-schema.ts";

/**
 * The tools and the choice among them. A conversation in which tools were called needs tools, also when the
 * client offers none any more: they are named, and may not be called.
 */
export function printTools(request: ChatRequest) {
  if (request.tools.length > 0) return { tools: request.tools.map(toolOf), tool_choice: choiceOf(request) };
  const names = namesCalled(request.turns);
  if (names.length === 0) return {};
  const tools = names.map((name) => ({ name, input_schema: { type: "object" } }));
  return { tools, tool_choice: { type: "none" } };
}

/** Whether the model has to call a tool. */
export function isForced({ tools, toolChoice }: ChatRequest): boolean {
  return tools.length > 0 && (toolChoice?.kind === "required" || toolChoice?.kind === "tool");
}

/** A strict tool is held to its schema only if that means the same when every object in it is closed. */
function toolOf({ name, description, schema, strict, cache }: Tool) {
  const { schema: object, told } = liftChoices(schema);
  const isHeld = strict && told === undefined && !isOpenSchema(object);
  return {
    name,
    description: describeChoices(description, told),
    input_schema: isHeld ? acceptSchema(object) : object,
    ...(isHeld && { strict }),
    ...printCacheMark(cache),
  };
}

function choiceOf({ toolChoice, parallelToolCalls }: ChatRequest) {
  if (toolChoice?.kind === "none") return { type: "none" };
  const single = parallelToolCalls === false && { disable_parallel_tool_use: true };
  if (!toolChoice) return single ? { type: "auto", ...single } : undefined;
  if (toolChoice.kind === "tool") return { type: "tool", name: toolChoice.name, ...single };
  return { type: toolChoice.kind === "required" ? "any" : "auto", ...single };
}

function namesCalled(turns: readonly Turn[]): readonly string[] {
  const names = turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === "tool_call" ? [part.name] : [])),
  );
  return [...new Set(names)];
}
