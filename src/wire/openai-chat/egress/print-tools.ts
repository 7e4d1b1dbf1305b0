import type {
  ChatRequest,
  JsonSchema,
  OutputFormat,
  Reasoning,
  Tool,
  ToolChoice,
} from "../../../domain/chat-request.ts";
import { printCacheMark } from "../../cache-mark.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { isSet } from "../../json/read.ts";
import type { ContentOptions } from "./print-content.ts";
import { isStrictSchema } from "./strict-schema.ts";

/** Members that are left out where they are undefined. */
type Members = Readonly<Record<string, unknown>>;

const LOW_BUDGET_TOKENS = 4096;
const HIGH_BUDGET_TOKENS = 16_384;
const DEFAULT_FORMAT_NAME = "answer";

/** Tools and what may become of them; without tools a choice would be refused. */
export function printTools(
  { tools, toolChoice, parallelToolCalls }: ChatRequest,
  { keepsCacheMarks }: ContentOptions,
): Members {
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => ({ ...printTool(tool), ...(keepsCacheMarks && printCacheMark(tool.cache)) })),
    tool_choice: toolChoice && printChoice(toolChoice),
    parallel_tool_calls: parallelToolCalls,
  };
}

/** How much to reason, for models that are told by an effort. */
export function printEffort({ effort, thinking, budgetTokens }: Reasoning): string | undefined {
  if (effort === "none") return effort;
  if (thinking === "disabled") return undefined;
  if (effort !== undefined) return effort === "max" ? "high" : effort;
  if (budgetTokens === undefined) return thinking && "medium";
  if (budgetTokens < LOW_BUDGET_TOKENS) return "low";
  return budgetTokens < HIGH_BUDGET_TOKENS ? "medium" : "high";
}

/** The form of the answer, strict unless the client or its schema says otherwise. */
export function printFormat(format: OutputFormat | undefined): Members | undefined {
  if (format === undefined) return undefined;
  if (format.kind === "json") return { type: "json_object" };
  const { name = DEFAULT_FORMAT_NAME, description, schema, strict = true } = format;
  const json_schema = { name, description, schema, strict: strict && isStrictSchema(schema) };
  return { type: "json_schema", json_schema };
}

function printTool({ name, description, schema, strict }: Tool): Members {
  const { schema: object, told } = hoistUnions(schema);
  const parameters = isBareObject(object) ? { ...object, properties: {} } : object;
  return {
    type: "function",
    function: {
      name,
      description: describeUnions(description, told),
      parameters,
      strict: strict && told === undefined && isStrictSchema(schema),
    },
  };
}

/** An object of any members: hosts take it for one without, but want that said. */
function isBareObject({ type, properties }: JsonSchema): boolean {
  return type === "object" && !isSet(properties);
}

function printChoice(choice: ToolChoice): unknown {
  return choice.kind === "tool" ? { type: "function", function: { name: choice.name } } : choice.kind;
}
