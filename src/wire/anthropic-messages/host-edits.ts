import type { MessagesHost } from "../../domain/model.ts";
import { type Edits, editElements, editMembers, keepElements, type ValueEdit } from "../json/edit.ts";
import { isSet, type JsonObject, parseJsonObject, readArray, readText } from "../json/read.ts";
import type { UpstreamRequestOptions } from "../model-request.ts";
import { BETA_FIELDS, betasOfHost, namedBetas } from "./betas.ts";

const drop: ValueEdit = () => undefined;

/**
 * Returns the edits that turn a body for Anthropic into one for `options.messagesHost`, whose URL has the model.
 * Drops fields that hosts refuse and no client misses: a tier, and a cache mark without a place. Without a
 * host, only the model is set. `bodyBetas` are the betas that the client's body names.
 */
export function hostEdits(options: UpstreamRequestOptions, bodyBetas?: readonly string[]): Edits {
  const { model, messagesHost } = options;
  if (!messagesHost) return { model: () => JSON.stringify(model) };
  const version = JSON.stringify(messagesHost.version);
  return {
    ...betaEdits(options, messagesHost, bodyBetas),
    model: drop,
    anthropic_version: () => version,
    ...(!messagesHost.hasStreamFlag && { stream: drop }),
    cache_control: drop,
    service_tier: drop,
    system: dropCacheScopes,
  };
}

/** The betas that the search among tools belongs to. */
const TOOL_SEARCH_BETAS = ["tool-search-tool-2025-10-19", "advanced-tool-use-2025-11-20"];
/** The betas that examples of a tool's input belong to. */
const TOOL_EXAMPLES_BETAS = ["tool-examples-2025-10-29", "advanced-tool-use-2025-11-20"];
const TOOL_SEARCH_TYPE = "tool_search_tool_";

/**
 * Returns the edits that put the host's betas into the body, or remove them for a host that reads the header.
 * Fields that belong to a beta are dropped without it, because hosts refuse them then.
 */
export function betaEdits(
  { betas: allowed = [], headerBetas }: Pick<UpstreamRequestOptions, "betas" | "headerBetas">,
  host: MessagesHost,
  bodyBetas: readonly string[] | undefined,
): Edits {
  const sent = betasOfHost(namedBetas(headerBetas, bodyBetas), host, allowed);
  const printed = host.betasIn === "body" && sent.length > 0 ? JSON.stringify(sent) : undefined;
  const managesContext = sent.some((beta) => beta.startsWith("context-management-"));
  return {
    ...Object.fromEntries(BETA_FIELDS.map((field) => [field, drop])),
    ...(host.betasIn === "body" && { anthropic_beta: () => printed }),
    context_management: (value) => (managesContext ? value : undefined),
    tools: (list) => fitTools(list, sent),
  };
}

/** Fits tools to the betas that a host gets. Without their search, tools are loaded from the start. */
function fitTools(list: string | undefined, sent: readonly string[]): string | undefined {
  const scoped = dropCacheScopes(list);
  if (!scoped?.startsWith("[")) return scoped;
  const searches = sent.some((beta) => TOOL_SEARCH_BETAS.includes(beta));
  const hasExamples = sent.some((beta) => TOOL_EXAMPLES_BETAS.includes(beta));
  const edits: Edits = {
    ...(!searches && scoped.includes('"defer_loading"') && { defer_loading: drop }),
    ...(!hasExamples && scoped.includes('"input_examples"') && { input_examples: drop }),
  };
  const mayHoldSearch = !searches && scoped.includes(TOOL_SEARCH_TYPE);
  if (!mayHoldSearch && Object.keys(edits).length === 0) return scoped;
  return keepElements(scoped, (tool) => {
    if (!tool.startsWith("{")) return tool;
    const isSearch = mayHoldSearch && readText(parseJsonObject(tool)?.type).startsWith(TOOL_SEARCH_TYPE);
    return isSearch ? undefined : editMembers(tool, edits);
  });
}

/**
 * Drops the scope of cache marks in the text of a list of blocks or tools. Claude Code sends it, and hosts
 * refuse it.
 */
const dropCacheScopes: ValueEdit = (list) => {
  if (!list?.startsWith("[") || !list.includes('"scope"')) return list;
  return editElements(list, (element) =>
    element.startsWith("{") ? editMembers(element, { cache_control: dropScope }) : element,
  );
};

const dropScope: ValueEdit = (mark) => (mark?.startsWith("{") ? editMembers(mark, { scope: drop }) : mark);

/** Tools that run on machines of Anthropic, by the beginnings of their types. */
const ANTHROPIC_TOOLS = ["code_execution_", "mcp_toolset", "web_fetch_"];

/**
 * Returns the path of the first field that only Anthropic's own API can serve and a client would miss: servers
 * of tools, containers, and tools that run on Anthropic's machines. `undefined` if there is none.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/overview
 */
export function findUnhosted(body: JsonObject): string | undefined {
  const { mcp_servers: servers, container, tools } = body;
  if (readArray(servers).length > 0) return "mcp_servers";
  if (isSet(container)) return "container";
  const index = readArray(tools).findIndex(isAnthropicTool);
  return index < 0 ? undefined : `tools[${index}]`;
}

function isAnthropicTool(tool: unknown): boolean {
  const type = typeof tool === "object" && tool !== null && "type" in tool ? readText(tool.type) : "";
  return ANTHROPIC_TOOLS.some((beginning) => type.startsWith(beginning));
}
