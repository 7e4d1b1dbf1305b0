import { isHostReasoning, mayHoldHostReasoning } from "../host-reasoning.ts";
import { type Edits, editMembers, keepElements } from "../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, parseJsonObject, readArray, readText } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, ToolBound, UpstreamRequestOptions } from "../model-request.ts";
import {
  documentSize,
  imageSize,
  inputSizeOf,
  type PartSize,
  promptTextOf,
  REMOTE_TOOL_SIZE,
  SERVER_TOOL_SIZE,
  sumOfSizes,
  TEXT_SIZE,
  UNBOUNDED_SIZE,
} from "../prompt-size.ts";
import {
  parseBody,
  readBudget,
  readFlag,
  readList,
  readObject,
  readWholeNumber,
  requireMessages,
  requireModel,
} from "../request-body.ts";
import { nameEndUser } from "../request-fields.ts";
import { hasElements, isSchemaFormat, needsOf } from "../request-needs.ts";
import { declinedBy, readMessagesTier, TIER_NAMES } from "../tiers.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { rejectTool, rejectUnpricedAbilities, SEARCH_FIELDS } from "../unpriced-tools.ts";
import { allowBodyBetas, BETA_FIELDS, readBodyBetas } from "./betas.ts";
import { findUnhosted, hostEdits } from "./host-edits.ts";
import { readChatRequest, readEndUser } from "./ingress/read-request.ts";
import { dropNewThread, rejectStored } from "./stored.ts";
import { boundTools, dropToolsOf, readToolDemands, rejectPaidTool, runsAtUpstream } from "./tools.ts";

/**
 * Fields that the gateway checks or edits. Each is sent once, so that an upstream cannot read a second value.
 */
const SENT_ONCE = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "tools",
  "stream",
  "thinking",
  "service_tier",
  "speed",
  "inference_geo",
  "container",
  "thread",
  "previous_message_id",
  "mcp_servers",
  "context_management",
  "plugins",
  ...SEARCH_FIELDS,
  ...BETA_FIELDS,
]);
const UNPRICED_RULE = createUnpricedRule(new Set(), TIER_NAMES);
const FIELDS = new Set([...SENT_ONCE, ...UNPRICED_RULE.names]);
/** A limit of 0 asks for no answer: the provider only writes the prompt to its cache. */
const OUTPUT_TOKENS = { min: 0, max: Number.MAX_SAFE_INTEGER };

/**
 * Parses and checks a messages body. Roles, block types and unknown fields are left to the upstream. Throws
 * `not_json`, `wrong_shape`, `thread_not_stored`, `nothing_stored` and `unpriced_field`.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys, reread } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  // Comes before the messages, because a continued thread may have none.
  rejectStored(body, repeatsKeys);
  const messages = requireMessages(body);
  readList(body, "tools");
  rejectUnpriced(body, messages, repeatsKeys);
  const size = sizeOfMessages(body, messages);
  const tools = readToolDemands(body, text, repeatsKeys);
  return {
    text,
    model,
    stream: readFlag(body, "stream"),
    outputTokensMax: readWholeNumber(body, "max_tokens", OUTPUT_TOKENS),
    outputLimitField: undefined,
    thinkingTokens: readBudget(readObject(body, "thinking")?.budget_tokens),
    choices: 1,
    wantsUsage: true,
    input: {
      ...inputSizeOf(text, size, repeatsKeys),
      readings: countReadings(body),
    },
    needs: needsOf(size, {
      tools: hasElements(body.tools) || hasElements(body.mcp_servers),
      reasoning: asksForThinking(body),
      schema:
        isSchemaFormat(body.output_format) ||
        isSchemaFormat(isJsonObject(body.output_config) && body.output_config.format),
    }),
    endUser: nameEndUser(readEndUser(body)),
    tier: readMessagesTier(body),
    ...declinedBy(body),
    betas: readBodyBetas(body),
    unhosted: findUnhosted(body),
    ...(tools && { tools }),
    promptText: () => promptTextOf(reread(), ["system", "messages", "tools"]),
    readChat: () => readChatRequest(reread()),
  };
}

/**
 * Prints the body for an upstream of this format. Sets the model name and the output limit. Drops a new
 * thread, which the upstream would store. Drops reasoning that another host signed, and priced betas that are
 * not allowed.
 */
export function printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  const { toolBound, droppedTools } = options;
  const edits = withBounds(toolBound, {
    max_tokens: () => String(options.outputTokensMax),
    thread: dropNewThread,
    messages: (value) => value && dropForeignReasoning(value),
    ...(request.betas && allowBodyBetas(options.betas)),
    // Overrides the edits of betas for hosts that take them from the body.
    ...hostEdits(options, request.betas),
  });
  const printed = editMembers(request.text, edits, SENT_ONCE);
  return droppedTools?.length ? dropToolsOf(printed, droppedTools) : printed;
}

/** Sets the bounds of tools before the edits of a host. */
function withBounds(bound: ToolBound | undefined, edits: Edits): Edits {
  if (!bound) return edits;
  const [own, ofHost] = [boundTools(bound), edits.tools];
  return { ...edits, tools: (list) => (ofHost ? ofHost(own(list)) : own(list)) };
}

/**
 * Removes reasoning that a chat completions host signed from the `messages` of a body. Anthropic rejects a
 * conversation that contains it. Also removes a message that is left without blocks. Keeps every other
 * byte.
 */
export function dropForeignReasoning(messages: string): string {
  if (!mayHoldHostReasoning(messages)) return messages;
  return keepElements(messages, (message) => {
    if (!mayHoldHostReasoning(message)) return message;
    let isEmpty = false;
    const kept = editMembers(message, {
      content(content) {
        if (!content?.startsWith("[")) return content;
        const blocks = keepElements(content, (block) => (isForeignReasoning(block) ? undefined : block));
        isEmpty = blocks === "[]";
        return blocks;
      },
    });
    return isEmpty ? undefined : kept;
  });
}

function asksForThinking({ thinking }: JsonObject): boolean {
  return isJsonObject(thinking) && (thinking.type === "enabled" || thinking.type === "adaptive");
}

function isForeignReasoning(block: string): boolean {
  const { type, signature, data } = (mayHoldHostReasoning(block) ? parseJsonObject(block) : undefined) ?? {};
  if (type === "thinking") return isHostReasoning(readText(signature));
  return type === "redacted_thinking" && isHostReasoning(readText(data));
}

/** Throws `unpriced_field` with the path of the first field that may change the model or the price. */
function rejectUnpriced(body: JsonObject, messages: readonly JsonObject[], repeatsKeys: boolean): void {
  UNPRICED_RULE.reject(body, repeatsKeys);
  rejectUnpricedAbilities(body);
  for (const [position, message] of messages.entries()) {
    if (message.role === "system") rejectAddedTools(message.content, `messages[${position}].content`);
  }
}

/** Checks tools that a system message defines for the rest of the conversation. */
function rejectAddedTools(content: unknown, path: string): void {
  for (const [position, block] of readArray(content).entries()) {
    const added = isJsonObject(block) && isJsonObject(block.tool) ? block.tool.definition : undefined;
    if (!isJsonObject(added)) continue;
    rejectTool(added, `${path}[${position}].tool.definition`);
    rejectPaidTool(added, `${path}[${position}].tool.definition`);
  }
}

/** Blocks whose tokens are all in the text of the body. Every other block is unbounded. */
const TEXT_BLOCKS = new Set([
  "text",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
  "mcp_tool_result",
  "tool_reference",
  "search_result",
  "web_search_tool_result",
  "tool_search_tool_result",
  "compaction",
]);
const NESTING_MAX = 4;

/** Returns what the media and tools of a messages body add to the input beyond its text. */
function sizeOfMessages(body: JsonObject, messages: readonly JsonObject[]): PartSize {
  if (readArray(body.mcp_servers).length > 0) return REMOTE_TOOL_SIZE;
  // The skills and files of a container have any size.
  if (isSet(body.container)) return UNBOUNDED_SIZE;
  return sumOfSizes([
    readArray(body.tools).some(runsAtUpstream) ? SERVER_TOOL_SIZE : TEXT_SIZE,
    sizeOfContent(body.system),
    ...messages.map((message) => sizeOfContent(message.content)),
  ]);
}

/** Returns how often the provider may read the prompt: twice when the body asks to compact it, else once. */
function countReadings({ compaction, context_management: management }: JsonObject): number {
  if (isSet(compaction)) return 2;
  const edits = isJsonObject(management) ? readArray(management.edits) : [];
  return edits.some((edit) => isJsonObject(edit) && readText(edit.type).startsWith("compact")) ? 2 : 1;
}

function sizeOfContent(content: unknown, depth = 0): PartSize {
  if (depth > NESTING_MAX) return UNBOUNDED_SIZE;
  return sumOfSizes(readArray(content).map((block) => sizeOfBlock(block, depth)));
}

function sizeOfBlock(block: unknown, depth: number): PartSize {
  if (!isJsonObject(block)) return TEXT_SIZE;
  if (block.type === "image") return sizeOfImage(block.source);
  if (block.type === "tool_result") return sizeOfContent(block.content, depth + 1);
  if (block.type === "document") return sizeOfDocument(block.source, depth);
  return typeof block.type === "string" && TEXT_BLOCKS.has(block.type) ? TEXT_SIZE : UNBOUNDED_SIZE;
}

function sizeOfImage(source: unknown): PartSize {
  if (!isJsonObject(source)) return UNBOUNDED_SIZE;
  const { type, media_type: mediaType, data } = source;
  if (type === "url" || type === "file") return imageSize(0);
  const isImage = type === "base64" && typeof mediaType === "string" && mediaType.startsWith("image/");
  if (!isImage || typeof data !== "string") return UNBOUNDED_SIZE;
  return imageSize(data.length);
}

function sizeOfDocument(source: unknown, depth: number): PartSize {
  if (!isJsonObject(source)) return UNBOUNDED_SIZE;
  if (source.type === "text") return TEXT_SIZE;
  return source.type === "content" ? sizeOfContent(source.content, depth + 1) : documentSize(source.data);
}
