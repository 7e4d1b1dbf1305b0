import { isObject, type Json } from "../strict-json.ts";

/** The members of a body of InvokeModel for one of Anthropic's models. */
const INVOKE_MEMBERS = new Set([
  "anthropic_version",
  "anthropic_beta",
  "max_tokens",
  "messages",
  "system",
  "stop_sequences",
  "temperature",
  "top_p",
  "top_k",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "metadata",
]);
const KNOWN_BETAS = new Set([
  "context-1m-2025-08-07",
  "effort-2025-11-24",
  "fine-grained-tool-streaming-2025-05-14",
  "interleaved-thinking-2025-05-14",
  "tool-search-tool-2025-10-19",
]);

/**
 * Returns Bedrock's complaint about a body of InvokeModel for one of Anthropic's models, or `undefined`.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
 */
export function findInvokeProblem(body: Json): string | undefined {
  if (body.anthropic_version !== "bedrock-2023-05-31") return "anthropic_version: Field required";
  for (const name of Object.keys(body)) {
    if (!INVOKE_MEMBERS.has(name)) return `${name}: Extra inputs are not permitted`;
  }
  if (!Number.isInteger(body.max_tokens)) return "max_tokens: Field required";
  const betas = Array.isArray(body.anthropic_beta) ? body.anthropic_beta : [];
  if (betas.some((beta) => !KNOWN_BETAS.has(String(beta)))) return "invalid beta flag";
  const isDeferred = /"defer_loading"|"tool_search_tool_/.test(JSON.stringify(body.tools ?? []));
  if (isDeferred && !betas.includes("tool-search-tool-2025-10-19"))
    return "tools.0.defer_loading: Extra inputs are not permitted";
  if (JSON.stringify(body).includes('"scope"'))
    return "system.0.cache_control.scope: Extra inputs are not permitted";
  return Array.isArray(body.messages) && body.messages.length > 0 ? undefined : "messages: Field required";
}

const CONVERSE_MEMBERS = new Set([
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "outputConfig",
  "additionalModelRequestFields",
  "serviceTier",
  "performanceConfig",
]);
const SERVICE_TIERS: readonly unknown[] = [undefined, "default", "priority", "flex", "reserved"];
const INFERENCE_MEMBERS = new Set(["maxTokens", "temperature", "topP", "stopSequences"]);
const BLOCKS = new Set([
  "text",
  "image",
  "document",
  "toolUse",
  "toolResult",
  "reasoningContent",
  "cachePoint",
]);
const IMAGE_FORMATS = new Set(["png", "jpeg", "gif", "webp"]);
const DOCUMENT_FORMATS = new Set(["pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"]);
const TOOL_NAME = /^[\w-]{1,64}$/;

/**
 * Returns Bedrock's complaint about a body of Converse, or `undefined`.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function findConverseProblem(body: Json): string | undefined {
  const { messages, system = [], inferenceConfig = {}, toolConfig } = body;
  const stray = strayIn(body, CONVERSE_MEMBERS) ?? strayIn(inferenceConfig, INFERENCE_MEMBERS);
  if (stray !== undefined) return `Unknown member ${stray}`;
  const { serviceTier, performanceConfig } = body;
  if (!SERVICE_TIERS.includes(Object(serviceTier).type)) return "The service tier is unknown";
  if (![undefined, "standard", "optimized"].includes(Object(performanceConfig).latency))
    return "The latency is unknown";
  if (!Array.isArray(messages) || messages.length === 0)
    return "A conversation must start with a user message";
  if (!Array.isArray(system)) return "system is a list";
  return findToolConfigProblem(toolConfig) ?? findMessagesProblem(messages, toolConfig !== undefined);
}

function findMessagesProblem(messages: readonly unknown[], hasTools: boolean): string | undefined {
  let asked: ReadonlySet<unknown> = new Set();
  const names = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || !Array.isArray(message.content)) return `messages.${index} is no message`;
    if (strayIn(message, new Set(["role", "content"]))) return `messages.${index} has unknown members`;
    const role = index % 2 === 0 ? "user" : "assistant";
    if (message.role !== role) return "A conversation must alternate between user and assistant roles";
    const blocks = message.content.filter(isObject);
    if (blocks.length === 0) return `The content field in the Message object at messages.${index} is empty`;
    const problem = blocks.map((block) => findBlockProblem(block, names)).find(Boolean);
    if (problem) return `messages.${index}: ${problem}`;
    const results = new Set(
      blocks.flatMap(({ toolResult }) => (isObject(toolResult) ? [toolResult.toolUseId] : [])),
    );
    if (results.size !== asked.size || [...results].some((id) => !asked.has(id)))
      return `The number of toolResult blocks at messages.${index}.content differs from the toolUse blocks before`;
    asked = new Set(blocks.flatMap(({ toolUse }) => (isObject(toolUse) ? [toolUse.toolUseId] : [])));
    if (asked.size > 0 && !hasTools)
      return "The toolConfig field must be defined when using toolUse and toolResult content blocks";
    const hasDocument = blocks.some((block) => "document" in block);
    if (hasDocument && !blocks.some((block) => "text" in block)) return "A document needs a text block";
  }
  return undefined;
}

function findBlockProblem(block: Json, names: Set<unknown>): string | undefined {
  const kinds = Object.keys(block);
  const [kind = ""] = kinds;
  if (kinds.length !== 1 || !BLOCKS.has(kind)) return `a block of ${kinds.join(", ")}`;
  const value = block[kind];
  if (kind === "text") return String(value).trim() === "" ? "The text field is blank" : undefined;
  if (!isObject(value)) return `${kind} is no object`;
  if (kind === "toolUse") return findCallProblem(value);
  if (kind === "toolResult") return findResultProblem(value, names);
  if (kind === "image" || kind === "document") return findMediaProblem(kind, value, names);
  return undefined;
}

function findCallProblem({ toolUseId, name, input }: Json): string | undefined {
  if (!TOOL_NAME.test(String(toolUseId)) || !TOOL_NAME.test(String(name)))
    return "a call with a bad name or id";
  return isObject(input) ? undefined : "the input of a call is no object";
}

function findResultProblem({ toolUseId, content, status, ...more }: Json, names: Set<unknown>) {
  if (Object.keys(more).length > 0) return `toolResult has ${Object.keys(more).join(", ")}`;
  if (!TOOL_NAME.test(String(toolUseId))) return "a result with a bad id";
  if (status !== undefined && status !== "success" && status !== "error") return "a result with a bad status";
  if (!Array.isArray(content) || content.length === 0) return "The content field of a toolResult is empty";
  return content
    .map((block) => (isObject(block) ? findBlockProblem(block, names) : "no block"))
    .find(Boolean);
}

function findMediaProblem(kind: string, { format, source, name }: Json, names: Set<unknown>) {
  const formats = kind === "image" ? IMAGE_FORMATS : DOCUMENT_FORMATS;
  if (!formats.has(String(format))) return `${kind} of format ${String(format)}`;
  if (!isObject(source) || typeof source.bytes !== "string" || source.bytes === "")
    return `${kind} without bytes`;
  if (kind === "image") return undefined;
  if (typeof name !== "string" || !/^[a-z0-9()[\]-]+( [a-z0-9()[\]-]+)*$/i.test(name))
    return "a document's bad name";
  if (names.has(name)) return "Duplicate document names";
  names.add(name);
  return undefined;
}

function findToolConfigProblem(config: unknown): string | undefined {
  if (config === undefined) return undefined;
  if (!isObject(config) || !Array.isArray(config.tools) || config.tools.length === 0)
    return "toolConfig has no tools";
  for (const tool of config.tools.filter(isObject)) {
    if ("cachePoint" in tool) continue;
    const spec = tool.toolSpec;
    if (!isObject(spec) || !TOOL_NAME.test(String(spec.name)) || spec.description === "")
      return "a bad toolSpec";
    const stray = strayIn(spec, new Set(["name", "description", "inputSchema", "strict"]));
    if (stray !== undefined || !isObject(spec.inputSchema) || !isObject(spec.inputSchema.json))
      return "a bad inputSchema";
    if (spec.inputSchema.json.type !== "object") return "inputSchema.json.type must be object";
  }
  const { toolChoice } = config;
  if (toolChoice === undefined) return undefined;
  const kinds = isObject(toolChoice) ? Object.keys(toolChoice) : [];
  return kinds.length === 1 && ["auto", "any", "tool"].includes(kinds[0] ?? "")
    ? undefined
    : "a bad toolChoice";
}

function strayIn(value: unknown, known: ReadonlySet<string>): string | undefined {
  return isObject(value) ? Object.keys(value).find((name) => !known.has(name)) : "no object";
}
