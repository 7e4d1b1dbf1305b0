import { findMiscased, isJsonObject, type JsonObject } from "./json/read.ts";
import { readList } from "./request-body.ts";
import { rejectUnpricedField } from "./unpriced-fields.ts";

/**
 * Tools that call another model, whose tokens have a price of their own.
 *
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
 * @see https://openrouter.ai/docs/guides/features/server-tools/advisor
 * @see https://openrouter.ai/docs/guides/features/server-tools/subagent
 * @see https://openrouter.ai/docs/guides/features/server-tools/fusion
 */
const MODEL_TOOLS = /^(?:openrouter:)?(?:advisor|subagent|fusion)(?:_\d+)?$/i;
/** Types of tools that run at the client. Their members are schemas with arbitrary names. */
const CLIENT_TOOLS: readonly unknown[] = [undefined, null, "function", "custom", "namespace"];
const MODEL = new Set(["model"]);
/**
 * Members of a tool that may choose a model.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-image-generation `model`, `svg.model`
 */
const HOLDERS = ["svg", "parameters"];

/**
 * Rejects tools that run at the provider with a model of the caller's choice. Throws `unpriced_field` with a
 * path below `path`, as in `tools[0].model`.
 */
export function rejectUnpricedTools(tools: readonly unknown[], path = "tools"): void {
  for (let position = 0; position < tools.length; position += 1) {
    const tool = tools[position];
    if (!isJsonObject(tool)) continue;
    const place = `${path}[${position}]`;
    rejectTool(tool, place);
    // A namespace contains tools, but no further namespaces.
    if (Array.isArray(tool.tools)) rejectNested(tool.tools, `${place}.tools`);
  }
}

/**
 * Rejects one tool that runs at the provider with a model of the caller's choice. Throws `unpriced_field`.
 */
export function rejectTool(tool: JsonObject, path: string): void {
  const { type } = tool;
  if (CLIENT_TOOLS.includes(type)) return;
  if (typeof type === "string" && MODEL_TOOLS.test(type)) rejectUnpricedField(`${path}.type`);
  rejectModel(tool, path);
  for (const name of HOLDERS) {
    const holder = tool[name];
    if (isJsonObject(holder)) rejectModel(holder, `${path}.${name}`);
  }
}

function rejectNested(tools: readonly unknown[], path: string): void {
  for (const [position, tool] of tools.entries()) {
    if (isJsonObject(tool)) rejectTool(tool, `${path}[${position}]`);
  }
}

/** Null is rejected too: it may be the last value of a repeated key. */
function rejectModel(holder: JsonObject, path: string): void {
  const names = holder.model !== undefined || findMiscased(holder, MODEL) !== undefined;
  if (names) rejectUnpricedField(`${path}.model`);
}

/**
 * Plug-ins that keep the model. Others, such as `auto-router` and `fusion`, choose models.
 *
 * @see https://openrouter.ai/docs/guides/features/plugins/overview
 */
const PLUGINS: readonly unknown[] = [
  "web",
  "file-parser",
  "response-healing",
  "context-compression",
  "moderation",
];

/** Throws `unpriced_field` for a plug-in that is not known to keep the model and the price of tokens. */
export function rejectUnpricedPlugins(body: JsonObject): void {
  const position = readList(body, "plugins").findIndex(
    (plugin) => !isJsonObject(plugin) || !PLUGINS.includes(plugin.id),
  );
  if (position >= 0) rejectUnpricedField(`plugins[${position}].id`);
}
