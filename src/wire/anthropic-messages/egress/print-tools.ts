import type { ChatRequest, Tool, Turn } from "../../../domain/chat-request.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { printCacheMark } from "../../request-fields.ts";
import { isOpenSchema, strictSchema } from "./strict-schema.ts";

/**
 * Returns the tools and the tool choice. Anthropic requires tools in a conversation that contains calls. A
 * request that no longer offers tools therefore declares the called ones by name and forbids their use.
 */
export function printTools(request: ChatRequest) {
  if (request.tools.length > 0) return { tools: request.tools.map(toolOf), tool_choice: choiceOf(request) };
  const names = namesCalled(request.turns);
  if (names.length === 0) return {};
  const tools = names.map((name) => ({ name, input_schema: { type: "object" } }));
  return { tools, tool_choice: { type: "none" } };
}

/** Whether the tool choice forces the model to call a tool. */
export function isForced({ tools, toolChoice }: ChatRequest): boolean {
  return tools.length > 0 && (toolChoice?.kind === "required" || toolChoice?.kind === "tool");
}

/** A tool stays strict only if closing every object of its schema does not change the schema's meaning. */
function toolOf({ name, description, schema, strict, cache }: Tool) {
  const { schema: object, unions } = hoistUnions(schema);
  const isStrict = strict && unions === undefined && !isOpenSchema(object);
  return {
    name,
    description: describeUnions(description, unions),
    input_schema: isStrict ? strictSchema(object) : object,
    ...(isStrict && { strict }),
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
