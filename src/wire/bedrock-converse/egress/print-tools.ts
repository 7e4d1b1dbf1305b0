import type { ChatRequest, Tool } from "../../../domain/chat-request.ts";
import { listCalledTools } from "../../arrange-messages.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { joinElements, joinMembers } from "../../json/members.ts";
import { isOpenSchema, strictSchema } from "../../strict-schema.ts";
import type { ModelFeatures } from "../model-id.ts";
import { printCachePoint } from "./print-messages.ts";

/**
 * Prints the tools and the choice among them. Converse requires tools in a conversation that contains calls, so
 * that a request which no longer offers any declares the called ones by name. It has no choice of none: tools
 * that a client forbids are left out where no call refers to them.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html
 */
export function printTools(request: ChatRequest, features: ModelFeatures): string | undefined {
  const { tools, toolChoice, turns } = request;
  const called = listCalledTools(turns);
  const isForbidden = tools.length === 0 || toolChoice?.kind === "none";
  if (isForbidden && called.length === 0) return undefined;
  const printed =
    tools.length > 0 ? tools.flatMap((tool) => printTool(tool, features)) : called.map(printCalledTool);
  return joinMembers({
    tools: joinElements(printed),
    toolChoice: isForbidden ? undefined : JSON.stringify(choiceOf(request)),
  });
}

function printTool(tool: Tool, features: ModelFeatures): readonly string[] {
  // Amazon's models have cache points in messages and system prompts only.
  const cachePoint = features.isClaude ? printCachePoint(tool.cache, features) : [];
  return [JSON.stringify({ toolSpec: specOf(tool, features) }), ...cachePoint];
}

/** A tool stays strict only if closing every object of its schema does not change the schema's meaning. */
function specOf({ name, description, schema, strict }: Tool, { enforcesSchemas }: ModelFeatures) {
  const { schema: object, unions } = hoistUnions(schema);
  const isStrict = strict && enforcesSchemas && unions === undefined && !isOpenSchema(object);
  return {
    name,
    // Converse refuses an empty description.
    description: describeUnions(description, unions) || undefined,
    inputSchema: { json: isStrict ? strictSchema(object) : object },
    ...(isStrict && { strict }),
  };
}

function printCalledTool(name: string): string {
  return JSON.stringify({ toolSpec: { name, inputSchema: { json: { type: "object" } } } });
}

/** `auto` is the default, and models without a choice refuse it. */
function choiceOf({ toolChoice }: ChatRequest): object | undefined {
  if (toolChoice?.kind === "tool") return { tool: { name: toolChoice.name } };
  return toolChoice?.kind === "required" ? { any: {} } : undefined;
}
