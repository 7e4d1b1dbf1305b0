import { findMiscased, isJsonObject, isSet, type JsonObject, readArray } from "./json/read.ts";
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

/** Rejects plugins, searches and tools that have a price of their own. Throws `unpriced_field`. */
export function rejectUnpricedAbilities(body: JsonObject, priced = NOTHING_PRICED): void {
  rejectUnpricedPlugins(body, priced);
  rejectSearches(body, priced);
  rejectUnpricedTools(readArray(body.tools));
}

/** What a format reads itself, because its calls are bounded. */
interface PricedAbilities {
  readonly fields: readonly string[];
  isPlugin(plugin: JsonObject): boolean;
}

const NOTHING_PRICED: PricedAbilities = { fields: [], isPlugin: () => false };

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
 * Tools that run at the provider and cost nothing beside their tokens.
 *
 * @see https://openrouter.ai/docs/guides/features/server-tools/datetime
 */
const FREE_TOOLS: readonly unknown[] = ["mcp", "openrouter:datetime"];

/**
 * Rejects tools of chat that run at the provider at a fee, such as `web_search`: answers of chat do not report
 * how often they ran. Throws `unpriced_field` with the path of the type.
 *
 * @see https://docs.z.ai/guides/tools/web-search `web_search`
 * @see https://platform.moonshot.ai/docs/guide/use-web-search `builtin_function`
 * @see https://console.groq.com/docs/browser-search `browser_search`, `code_interpreter`
 * @see https://openrouter.ai/docs/guides/features/server-tools/web-search `openrouter:web_search`
 */
export function rejectPaidTools(tools: readonly unknown[]): void {
  const position = tools.findIndex((tool) => {
    const type = isJsonObject(tool) ? tool.type : undefined;
    return typeof type === "string" && !CLIENT_TOOLS.includes(type) && !FREE_TOOLS.includes(type);
  });
  if (position >= 0) rejectUnpricedField(`tools[${position}].type`);
}

/**
 * Plug-ins that keep the model and cost nothing. Others search at a fee, such as `web`, or choose models.
 *
 * @see https://openrouter.ai/docs/guides/features/plugins/overview
 */
const PLUGINS: readonly unknown[] = ["response-healing", "context-compression", "moderation"];
/** Engines of the plug-in `file-parser` without a fee per page. Its default may be one with a fee. */
const FREE_ENGINES: readonly unknown[] = ["native", "pdf-text", "cloudflare-ai"];

/** Throws `unpriced_field` for a plug-in that is not known to keep the model and the price of tokens. */
function rejectUnpricedPlugins(body: JsonObject, priced: PricedAbilities): void {
  const position = readList(body, "plugins").findIndex(
    (plugin) => !isFreePlugin(plugin) && !(isJsonObject(plugin) && priced.isPlugin(plugin)),
  );
  if (position >= 0) rejectUnpricedField(`plugins[${position}].id`);
}

function isFreePlugin(plugin: unknown): boolean {
  if (!isJsonObject(plugin)) return false;
  if (PLUGINS.includes(plugin.id)) return true;
  return plugin.id === "file-parser" && isJsonObject(plugin.pdf) && FREE_ENGINES.includes(plugin.pdf.engine);
}

/**
 * Fields that enable searches and tools at the provider, each with the test that it is enabled. An empty object
 * enables most of them.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-web-search `web_search_options`
 * @see https://docs.x.ai/docs/guides/live-search `search_parameters`, whose mode is `auto` by default
 * @see https://help.aliyun.com/zh/model-studio/web-search `enable_search`
 * @see https://console.groq.com/docs/compound `compound_custom.tools.enabled_tools`
 */
const SEARCHES: Readonly<Record<string, (value: unknown) => boolean>> = {
  web_search_options: isSet,
  search_parameters: (value) => isSet(value) && !(isJsonObject(value) && value.mode === "off"),
  enable_search: (value) => isSet(value) && value !== false,
  compound_custom: (value) =>
    isJsonObject(value) && isJsonObject(value.tools) && readArray(value.tools.enabled_tools).length > 0,
};
const EXTRA_BODY = "extra_body";

/** The names of the fields that enable searches. A format must reject their other spellings and repetitions. */
export const SEARCH_FIELDS: readonly string[] = Object.keys(SEARCHES);

/** Throws `unpriced_field` for a field that enables a search at the provider, whose fee no price holds. */
function rejectSearches(body: JsonObject, { fields }: PricedAbilities): void {
  const extra = body[EXTRA_BODY];
  const [own, inExtra] = [findSearch(body, fields), isJsonObject(extra) ? findSearch(extra) : undefined];
  if (own !== undefined) rejectUnpricedField(own);
  if (inExtra !== undefined) rejectUnpricedField(`${EXTRA_BODY}.${inExtra}`);
}

function findSearch(body: JsonObject, priced: readonly string[] = []): string | undefined {
  return SEARCH_FIELDS.find((name) => name in body && !priced.includes(name) && SEARCHES[name]?.(body[name]));
}
