import { type Edits, editElements, editMembers, type ValueEdit } from "../json/edit.ts";
import { isSet, type JsonObject, readArray, readText } from "../json/read.ts";
import type { UpstreamRequestOptions } from "../model-request.ts";
import { allowBetas, BETA_FIELDS, namedBetas } from "./betas.ts";

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
    model: drop,
    anthropic_version: () => version,
    ...(!messagesHost.hasStreamFlag && { stream: drop }),
    cache_control: drop,
    service_tier: drop,
    system: dropCacheScopes,
    tools: dropCacheScopes,
    ...(messagesHost.bodyBetas && betaEdits(options, messagesHost.bodyBetas, bodyBetas)),
  };
}

/** The beta that context management belongs to: hosts refuse the field without it. */
const CONTEXT_BETA = "context-management-2025-06-27";

/**
 * Puts the betas of header and body into the body, as far as the host knows them. Betas that the operator
 * names are always sent.
 */
function betaEdits(
  { betas: allowed = [], headerBetas }: UpstreamRequestOptions,
  known: readonly string[],
  bodyBetas: readonly string[] | undefined,
): Edits {
  const named = allowBetas(namedBetas(headerBetas, bodyBetas), allowed);
  const isOwn = (beta: string) => allowed.includes(beta);
  const sent = [...new Set(named)].filter((beta) => known.includes(beta) || isOwn(beta));
  const printed = sent.length > 0 ? JSON.stringify(sent) : undefined;
  return {
    ...Object.fromEntries(BETA_FIELDS.map((field) => [field, drop])),
    anthropic_beta: () => printed,
    context_management: (value) => (sent.includes(CONTEXT_BETA) ? value : undefined),
  };
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
