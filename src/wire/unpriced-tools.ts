import { findMiscased } from "./json/key-case.ts";
import { isJsonObject, type JsonObject } from "./json/read.ts";
import { refuseUnpricedField } from "./unpriced-fields.ts";

/**
 * Tools by which the provider asks another model, whose tokens have a price of their own.
 *
 * @see https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool
 * @see https://openrouter.ai/docs/guides/features/server-tools/advisor
 * @see https://openrouter.ai/docs/guides/features/server-tools/subagent
 * @see https://openrouter.ai/docs/guides/features/server-tools/fusion
 */
const MODEL_TOOLS = /^(?:openrouter:)?(?:advisor|subagent|fusion)(?:_\d+)?$/i;
/** Tools that the client runs. Their members are schemas, which may have any name. */
const CLIENT_TOOLS: readonly unknown[] = [undefined, null, "function", "custom", "namespace"];
const MODEL = new Set(["model"]);
/**
 * Objects in a tool that may choose its model.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-image-generation `model`, `svg.model`
 */
const HOLDERS = ["svg", "parameters"];

/**
 * Refuses tools that run at the provider with a model of the caller's choice. Throws `unpriced_field` with a path that
 * begins with `path`, as in `tools[0].model`.
 */
export function refuseUnpricedTools(tools: readonly unknown[], path = "tools"): void {
  for (const [position, tool] of tools.entries()) {
    if (!isJsonObject(tool)) continue;
    const place = `${path}[${position}]`;
    refuseTool(tool, place);
    // A namespace holds tools, and none of those holds others.
    if (Array.isArray(tool.tools)) refuseNested(tool.tools, `${place}.tools`);
  }
}

/** Refuses one such tool. */
export function refuseTool(tool: JsonObject, path: string): void {
  const { type } = tool;
  if (CLIENT_TOOLS.includes(type)) return;
  if (typeof type === "string" && MODEL_TOOLS.test(type)) refuseUnpricedField(`${path}.type`);
  refuseModel(tool, path);
  for (const name of HOLDERS) {
    const holder = tool[name];
    if (isJsonObject(holder)) refuseModel(holder, `${path}.${name}`);
  }
}

function refuseNested(tools: readonly unknown[], path: string): void {
  for (const [position, tool] of tools.entries()) {
    if (isJsonObject(tool)) refuseTool(tool, `${path}[${position}]`);
  }
}

/** Null is refused too: it may follow another value of a repeated key. */
function refuseModel(holder: JsonObject, path: string): void {
  const names = holder.model !== undefined || findMiscased(holder, MODEL) !== undefined;
  if (names) refuseUnpricedField(`${path}.model`);
}
