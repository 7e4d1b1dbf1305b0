import type { ChatRequest, JsonSchema, Tool, ToolChoice } from "../../../domain/chat-request.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { reject, rejectUntranslatable, requireName } from "../../request-body.ts";
import { join, type Members, readerOf, readMember, readObjects } from "../names.ts";
import { searchIn } from "../tools.ts";
import { readOpenApiSchema } from "./read-schema.ts";

const TOOL = readerOf(["functionDeclarations", "computerUse"]);
const DECLARATION = readerOf(["name", "description", "parameters", "parametersJsonSchema", "response"]);
const TOOL_CONFIG = readerOf(["functionCallingConfig"]);
const CALLING = readerOf(["mode", "allowedFunctionNames"]);
const NO_PARAMETERS: JsonSchema = { type: "object", properties: {} };

/** Reads the functions and which of them the model may call. Without functions, the choice is dropped. */
export function readTools({
  tools,
  toolConfig,
}: Members<"tools" | "toolConfig">): Pick<ChatRequest, "tools" | "toolChoice"> {
  const declared = readObjects(tools, "tools").flatMap((tool, position) =>
    readTool(tool, `tools[${position}]`),
  );
  const { choice, allowed } = readCalling(toolConfig);
  const remaining = allowed ? declared.filter(({ name }) => allowed.includes(name)) : declared;
  return remaining.length === 0
    ? { tools: [], toolChoice: undefined }
    : { tools: remaining, toolChoice: choice };
}

function readTool(tool: JsonObject, path: string): readonly Tool[] {
  const { functionDeclarations, computerUse } = TOOL.read(tool, path);
  if (isSet(computerUse)) rejectUntranslatable(join(path, "computerUse"));
  const search = searchIn(tool);
  if (search !== undefined) rejectUntranslatable(join(path, search));
  const place = join(path, "functionDeclarations");
  return readObjects(functionDeclarations, place).map((each, position) =>
    readDeclaration(each, `${place}[${position}]`),
  );
}

function readDeclaration(declaration: JsonObject, path: string): Tool {
  const members = DECLARATION.read(declaration, path);
  return {
    name: requireName(members.name, join(path, "name")),
    description: readText(members.description) || undefined,
    schema: readParameters(members, path),
    strict: undefined,
    isFreeForm: false,
    cache: undefined,
  };
}

/** Reads the parameters, which are in Google's form of OpenAPI or a JSON schema. */
function readParameters(
  { parameters, parametersJsonSchema }: Members<"parameters" | "parametersJsonSchema">,
  path: string,
): JsonSchema {
  const [given, name] = isSet(parametersJsonSchema)
    ? [parametersJsonSchema, "parametersJsonSchema"]
    : [parameters, "parameters"];
  if (!isSet(given)) return NO_PARAMETERS;
  const place = join(path, name);
  if (!isJsonObject(given) || isTooDeep(given)) reject(place);
  return name === "parameters" ? readOpenApiSchema(given, place) : given;
}

interface Calling {
  readonly choice: ToolChoice | undefined;
  /** The only functions that the model may call. */
  readonly allowed: readonly unknown[] | undefined;
}

/** @see https://ai.google.dev/api/caching#FunctionCallingConfig */
function readCalling(toolConfig: unknown): Calling {
  const config = TOOL_CONFIG.read(readMember(toolConfig, "toolConfig") ?? {}, "toolConfig");
  const path = "toolConfig.functionCallingConfig";
  const { mode, allowedFunctionNames } = CALLING.read(
    readMember(config.functionCallingConfig, path) ?? {},
    path,
  );
  const names = Array.isArray(allowedFunctionNames) ? allowedFunctionNames : [];
  const allowed = names.length > 0 ? names : undefined;
  switch (mode) {
    case undefined:
    case "MODE_UNSPECIFIED":
      return { choice: undefined, allowed: undefined };
    case "AUTO":
    case "VALIDATED":
      return { choice: { kind: "auto" }, allowed };
    case "NONE":
      return { choice: { kind: "none" }, allowed: undefined };
    case "ANY": {
      const [name] = names;
      const isOne = names.length === 1 && typeof name === "string";
      return { choice: isOne ? { kind: "tool", name } : { kind: "required" }, allowed };
    }
    default:
      return reject(`${path}.mode`);
  }
}
