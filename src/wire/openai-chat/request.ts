import { GatewayError } from "../../errors.ts";
import { type Edits, editMembers, once } from "../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import {
  AUDIO_SIZE,
  audioSize,
  documentSize,
  inputSizeOf,
  type PartSize,
  promptTextOf,
  REMOTE_TOOL_SIZE,
  sizeOfImageUrl,
  sumOfSizes,
  TEXT_SIZE,
  UNBOUNDED_SIZE,
} from "../prompt-size.ts";
import { CHOICES_MAX } from "../reply-part.ts";
import {
  parseBody,
  readBudget,
  readFlag,
  readList,
  readObject,
  readPositive,
  rejectUntranslatable,
  requireMessages,
  requireModel,
} from "../request-body.ts";
import { nameEndUser, readEndUser } from "../request-fields.ts";
import { asksForEffort, hasElements, isSchemaFormat, needsOf } from "../request-needs.ts";
import { declinedBy, readServiceTier } from "../tiers.ts";
import { rejectRepeatedMembers } from "../tool-demands.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { rejectPaidTools, rejectUnpricedAbilities, SEARCH_FIELDS } from "../unpriced-tools.ts";
import { readChatRequest } from "./ingress/read-request.ts";
import { PRICED, readAskedOutput, readSearches } from "./tools.ts";

/** Fields that the gateway checks or edits. The printed body contains each of them once. */
const SENT_ONCE = new Set([
  "model",
  "messages",
  "tools",
  "functions",
  "max_tokens",
  "max_completion_tokens",
  "stream",
  "stream_options",
  "n",
  "service_tier",
  "speed",
  "modalities",
  "models",
  "thinking",
  "reasoning",
  ...SEARCH_FIELDS,
  "plugins",
  "deferred",
  "session_params",
  "data_sources",
  "dataSources",
]);
const UNPRICED_RULE = createUnpricedRule(new Set(["speed", "models"]), ["service_tier", "modalities"]);
const FIELDS = new Set([...SENT_ONCE, ...UNPRICED_RULE.names]);

/**
 * Parses and checks a chat body. Roles, part types and unknown fields are left to the upstream.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys, reread } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  const messages = requireMessages(body);
  const maxTokens = readPositive(body, "max_tokens");
  const maxCompletionTokens = readPositive(body, "max_completion_tokens");
  readList(body, "tools");
  const stored = findStored(body);
  if (stored !== undefined) throw new GatewayError("nothing_stored", { path: stored });
  rejectUnpriced(body, { text, repeatsKeys });
  // A deferred answer would have to be fetched later, which the gateway does not support.
  if (readFlag(body, "deferred")) rejectUntranslatable("deferred");
  const size = sizeOfChat(body, messages);
  const choices = readPositive(body, "n", CHOICES_MAX) ?? 1;
  const searches = readSearches(body, choices);
  return {
    text,
    model,
    stream: readFlag(body, "stream"),
    outputTokensMax: smallerOf(maxTokens, maxCompletionTokens),
    outputLimitField: limitFieldOf(maxTokens, maxCompletionTokens),
    thinkingTokens: readThinkingTokens(body),
    choices,
    wantsUsage: readObject(body, "stream_options")?.include_usage === true,
    input: inputSizeOf(text, size, repeatsKeys),
    needs: needsOf(size, {
      tools: hasElements(body.tools) || hasElements(body.functions),
      reasoning: asksForReasoning(body),
      schema: isSchemaFormat(body.response_format),
    }),
    endUser: nameEndUser(readEndUser(body)),
    tier: readServiceTier(body),
    ...declinedBy(body),
    ...(searches && { tools: searches }),
    ...readAskedOutput(body),
    promptText: () => promptTextOf(reread(), ["messages", "tools", "functions"]),
    readChat: () => readChatRequest(reread()),
  };
}

/** Prints the body for an upstream: its model name, one output limit, and usage in every stream. */
export function printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  const limitField = options.outputLimitField ?? request.outputLimitField ?? "max_completion_tokens";
  const limitOf = (field: string) => () =>
    field === limitField ? String(options.outputTokensMax) : undefined;
  const edits: Edits = {
    model: () => JSON.stringify(options.model),
    max_tokens: limitOf("max_tokens"),
    max_completion_tokens: limitOf("max_completion_tokens"),
    stream_options: request.stream ? includeUsage : once,
  };
  return editMembers(request.text, edits, SENT_ONCE);
}

function includeUsage(streamOptions: string | undefined): string {
  const options = streamOptions === undefined || streamOptions === "null" ? "{}" : streamOptions;
  return editMembers(options, { include_usage: () => "true" });
}

/** Reads the reasoning budget from either of the two fields that hosts use. */
function readThinkingTokens({ thinking, reasoning }: JsonObject): number {
  return readBudget(
    isJsonObject(thinking) ? thinking.budget_tokens : isJsonObject(reasoning) && reasoning.max_tokens,
  );
}

/** Hosts differ in the field that asks for reasoning. */
function asksForReasoning({ reasoning_effort: effort, reasoning, thinking }: JsonObject): boolean {
  if (asksForEffort(effort)) return true;
  if (isJsonObject(thinking)) return thinking.type !== "disabled";
  if (!isJsonObject(reasoning) || reasoning.enabled === false) return false;
  return asksForEffort(reasoning.effort) || isSet(reasoning.max_tokens) || reasoning.enabled === true;
}

function smallerOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function limitFieldOf(maxTokens: number | undefined, maxCompletionTokens: number | undefined) {
  if (maxCompletionTokens !== undefined) return "max_completion_tokens";
  return maxTokens === undefined ? undefined : "max_tokens";
}

/** Fields that always refer to stored data. */
const STORED: readonly string[] = ["session_params", "data_sources", "dataSources"];

/**
 * Returns the path of the first field that refers to data stored at the upstream under the operator's key.
 * Such data may belong to another user of the gateway.
 *
 * @see https://docs.sglang.ai/basic_usage/native_api.html `session_params`
 * @see https://ai.google.dev/gemini-api/docs/openai `extra_body.google.cached_content`
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/references/on-your-data `data_sources`
 */
function findStored(body: JsonObject): string | undefined {
  const stored = STORED.find((name) => isSet(body[name]));
  if (stored !== undefined) return stored;
  const { extra_body: extra } = body;
  const google = isJsonObject(extra) ? extra.google : undefined;
  return isJsonObject(google) && isSet(google.cached_content)
    ? "extra_body.google.cached_content"
    : undefined;
}

/** Throws `unpriced_field` with the path of a field that may change the model or the price. */
function rejectUnpriced(
  body: JsonObject,
  { text, repeatsKeys }: { readonly text: string; readonly repeatsKeys: boolean },
): void {
  UNPRICED_RULE.reject(body, repeatsKeys);
  rejectUnpricedAbilities(body, repeatsKeys ? undefined : PRICED);
  if (repeatsKeys) rejectRepeatedMembers(text);
  rejectPaidTools(readArray(body.tools));
}

const TEXT_PARTS = new Set(["text", "refusal", "thinking"]);
const CLIENT_TOOLS = new Set(["function", "custom"]);

/** Returns the size of the media and tools of a chat body, beside its text. */
function sizeOfChat(body: JsonObject, messages: readonly JsonObject[]): PartSize {
  if (readArray(body.tools).some(runsAtUpstream)) return REMOTE_TOOL_SIZE;
  return sumOfSizes(messages.map(sizeOfMessage));
}

function runsAtUpstream(tool: unknown): boolean {
  return isJsonObject(tool) && isSet(tool.type) && !CLIENT_TOOLS.has(readText(tool.type));
}

function sizeOfMessage(message: JsonObject): PartSize {
  if (isSet(message.audio)) return AUDIO_SIZE;
  return Array.isArray(message.content) ? sumOfSizes(message.content.map(sizeOfPart)) : TEXT_SIZE;
}

function sizeOfPart(part: unknown): PartSize {
  if (!isJsonObject(part)) return TEXT_SIZE;
  if (part.type === "image_url")
    return sizeOfImageUrl(isJsonObject(part.image_url) ? part.image_url.url : part.image_url);
  if (typeof part.type === "string" && TEXT_PARTS.has(part.type)) return TEXT_SIZE;
  const { input_audio: audio, file } = part;
  if (part.type === "input_audio")
    return isJsonObject(audio) ? audioSize(audio.data, audio.format) : AUDIO_SIZE;
  if (part.type !== "file") return UNBOUNDED_SIZE;
  return documentSize(isJsonObject(file) ? file.file_data : undefined);
}
