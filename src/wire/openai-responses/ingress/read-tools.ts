import type { JsonSchema, Tool } from "../../../domain/chat-request.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { NAME_CHARS_MAX, readList, reject, rejectUntranslatable, requireName } from "../../request-body.ts";

/** A tool, and how the client calls it. */
export interface OfferedTool {
  readonly tool: Tool;
  readonly name: string;
  readonly namespace: string | undefined;
}

/**
 * Kinds that agents and SDKs offer by default and that run at OpenAI or need its help: nobody misses them.
 * Others are there because somebody wanted them.
 */
const DROPPED = /^(web_search(_preview)?(_\d{4}_\d{2}_\d{2})?|tool_search|image_generation|local_shell)$/;
/** Between a namespace and the name of a tool in it. */
const SEPARATOR = "__";
const NO_PARAMETERS: JsonSchema = { type: "object", properties: {} };

/** Every tool of a body: of its list, and of the lists that agents add in its input. Throws `untranslatable`, `wrong_shape`. */
export function readOffer(body: JsonObject, items: readonly JsonObject[]): readonly OfferedTool[] {
  const added = items.flatMap((item, position) =>
    item.type === "additional_tools" ? readTools(item, `input[${position}].`) : [],
  );
  return [...readTools(body, ""), ...added];
}

/**
 * The one name of a tool where there are no namespaces. Throws `wrong_shape` for over 256 characters, and before they
 * are put together: one long namespace would be in the names of all its tools.
 */
export function joinName(namespace: unknown, name: string, path: string): string {
  const space = readText(namespace);
  const spaceChars = space === "" ? 0 : space.length + SEPARATOR.length;
  if (spaceChars + name.length > NAME_CHARS_MAX) reject(path);
  return space === "" ? name : space + SEPARATOR + name;
}

function readTools(holder: JsonObject, prefix: string): readonly OfferedTool[] {
  return readList(holder, "tools").flatMap((tool, position) => readTool(tool, `${prefix}tools[${position}]`));
}

function readTool(tool: unknown, path: string): readonly OfferedTool[] {
  if (!isJsonObject(tool)) reject(path);
  if (tool.type === "namespace") return readNamespace(tool, path);
  return DROPPED.test(readText(tool.type)) ? [] : [readOwn(tool, undefined, path)];
}

function readNamespace(space: JsonObject, path: string): readonly OfferedTool[] {
  const namespace = requireName(space.name, `${path}.name`);
  if (!Array.isArray(space.tools)) reject(`${path}.tools`);
  return space.tools.map((tool: unknown, position) => {
    const place = `${path}.tools[${position}]`;
    if (!isJsonObject(tool)) reject(place);
    return readOwn(tool, namespace, place);
  });
}

/** A tool that the client runs. */
function readOwn(tool: JsonObject, namespace: string | undefined, path: string): OfferedTool {
  if (typeof tool.type !== "string") reject(`${path}.type`);
  const isFreeForm = tool.type === "custom";
  if (!isFreeForm && tool.type !== "function") rejectUntranslatable(`${path}.type`);
  const name = requireName(tool.name, `${path}.name`);
  return {
    name,
    namespace,
    tool: {
      name: joinName(namespace, name, `${path}.name`),
      description: readText(tool.description) || undefined,
      schema: isFreeForm ? schemaOfText(tool.format) : readSchema(tool, path),
      strict: typeof tool.strict === "boolean" ? tool.strict : undefined,
      isFreeForm,
      cache: undefined,
    },
  };
}

function readSchema({ parameters }: JsonObject, path: string): JsonSchema {
  if (!isSet(parameters)) return NO_PARAMETERS;
  if (!isJsonObject(parameters) || isTooDeep(parameters)) reject(`${path}.parameters`);
  return parameters;
}

/** A tool that takes any text is a function of one; what keeps a text to a grammar is a word of advice then. */
function schemaOfText(format: unknown): JsonSchema {
  const { definition, syntax } = isJsonObject(format) ? format : {};
  const grammar = readText(definition);
  const advice = grammar === "" ? "" : ` It follows this ${readText(syntax)} grammar:\n${grammar}`;
  const input = { type: "string", description: `The whole input of the tool, as plain text.${advice}` };
  return { type: "object", properties: { input }, required: ["input"], additionalProperties: false };
}
