import { GatewayError } from "../../errors.ts";
import { type Edits, editMembers, keepElements, type ValueEdit } from "../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, readArray } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, RequestHead, ToolBound, UpstreamRequestOptions } from "../model-request.ts";
import { inputSizeOf, promptTextOf } from "../prompt-size.ts";
import {
  parseBody,
  readFlag,
  readList,
  readObject,
  readPositive,
  reject,
  rejectUntranslatable,
  requireModel,
} from "../request-body.ts";
import { nameEndUser, readEndUser } from "../request-fields.ts";
import { asksForEffort, hasElements, isSchemaFormat, needsOf } from "../request-needs.ts";
import { declinedBy, readServiceTier } from "../tiers.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { rejectUnpricedAbilities, rejectUnpricedTools, SEARCH_FIELDS } from "../unpriced-tools.ts";
import { readEchoedFields } from "./ingress/echoed-fields.ts";
import { readChatRequest } from "./ingress/read-request.ts";
import { isCompaction, isEncodedReasoning, isReference, readCompaction, requireItems } from "./items.ts";
import { countReadings, sizeOfInput } from "./size.ts";
import { editsWithout, MAX_TOOL_CALLS, readToolDemands } from "./tools.ts";

/**
 * Fields that the gateway checks or edits. Each is sent once, so that an upstream cannot read a second value.
 */
export const SENT_ONCE = new Set([
  "model",
  "input",
  "instructions",
  "tools",
  "max_output_tokens",
  "store",
  "previous_response_id",
  "conversation",
  "prompt",
  "background",
  "stream",
  "include",
  "text",
  "reasoning",
  "service_tier",
  "speed",
  "context_management",
  MAX_TOOL_CALLS,
]);
/** No field may repeat: the request is rejected for repeated keys before this check. */
const UNPRICED_RULE = createUnpricedRule(new Set(), ["service_tier"]);
const FIELDS = new Set([...SENT_ONCE, ...UNPRICED_RULE.names, "plugins", ...SEARCH_FIELDS]);

/**
 * Parses and checks a responses body. Item types, part types and unknown fields are left to the upstream.
 * Throws `not_json`, `wrong_shape` (also for repeated keys) and `unpriced_field`. Throws `nothing_stored` for
 * references to stored data, and `untranslatable` for a stored prompt or a background answer.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys, reread } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  const items = requireItems(body);
  checkOptions(body);
  // An upstream may read the other of two values, which the checks below have not seen.
  if (repeatsKeys) throw new GatewayError("wrong_shape");
  rejectStored(body, items);
  rejectUnpriced(body, items);
  const size = sizeOfInput(body, items);
  const tools = readToolDemands(body, items);
  return {
    text,
    model,
    stream: readFlag(body, "stream"),
    outputTokensMax: readPositive(body, "max_output_tokens"),
    outputLimitField: undefined,
    thinkingTokens: 0,
    choices: 1,
    wantsUsage: true,
    input: { ...inputSizeOf(text, size, repeatsKeys), readings: countReadings(body) },
    needs: needsOf(size, {
      tools: hasElements(body.tools) || items.some(({ tools }) => hasElements(tools)),
      reasoning: asksForEffort(readObject(body, "reasoning")?.effort),
      schema: isSchemaFormat(readObject(body, "text")?.format),
    }),
    endUser: nameEndUser(readEndUser(body)),
    tier: readServiceTier(body),
    ...declinedBy(body),
    ...(tools && { tools }),
    promptText: () => promptTextOf(reread(), ["instructions", "input", "tools"]),
    readChat: () => readChatRequest(reread()),
    readEchoedFields: () => readEchoedFields(reread()),
  };
}

/**
 * Prints the body for an upstream of this format. Sets the model name and the output limit. Turns `store`
 * off, because no later request may refer to the answer. Drops reasoning that the upstream cannot read.
 */
export function printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  const { toolBound } = options;
  const dropping = editsWithoutTools(request, options);
  const edits: Edits = {
    ...dropping,
    model: () => JSON.stringify(options.model),
    ...(toolBound && { [MAX_TOOL_CALLS]: boundCalls(toolBound) }),
    max_output_tokens: () => String(options.outputTokensMax),
    store: () => "false",
    input: editInput(dropping),
  };
  return editMembers(request.text, edits, SENT_ONCE);
}

/** Returns the edits that drop the tools of the options; none where no tool is dropped. */
export function editsWithoutTools(
  { tools }: RequestHead,
  { droppedTools = [] }: UpstreamRequestOptions,
): Edits {
  return tools && droppedTools.length > 0 ? editsWithout(droppedTools, tools) : {};
}

/** Edits the input: drops what the upstream cannot read, and tools. */
export function editInput({ input: dropTools }: Edits): ValueEdit {
  return (value) => {
    const readable = value && dropUnreadable(value);
    return dropTools ? dropTools(readable) : readable;
  };
}

/** Sets the bound of all tools at the provider where the client sets none. */
function boundCalls({ callsMax }: ToolBound): ValueEdit {
  return (value) => (value === undefined || value === "null" ? String(callsMax) : value);
}

function checkOptions(body: JsonObject): void {
  const { instructions } = body;
  if (isSet(instructions) && typeof instructions !== "string") reject("instructions");
  readList(body, "tools");
  readList(body, "include");
  readObject(body, "text");
  readObject(body, "reasoning");
}

/** Rejects references to stored data and answers that are fetched later. */
function rejectStored(body: JsonObject, items: readonly JsonObject[]): void {
  const stored = findStored(body, items);
  if (stored !== undefined) throw new GatewayError("nothing_stored", { path: stored });
  if (isSet(body.prompt)) rejectUntranslatable("prompt");
  if (readFlag(body, "background")) rejectUntranslatable("background");
}

/**
 * Drops reasoning items that the upstream would look up in its store, or that the gateway encoded for another
 * provider. The upstream would reject the whole request for either. A summary that the gateway encoded becomes
 * a message.
 */
export function dropUnreadable(input: string): string {
  if (!input.startsWith("[") || !/"reasoning"|compaction/.test(input)) return input;
  return keepElements(input, (item) => (isUnreadable(item) ? undefined : openCompaction(item)));
}

function openCompaction(text: string): string {
  if (!text.includes("compaction")) return text;
  const item: unknown = JSON.parse(text);
  const summary = isJsonObject(item) && isCompaction(item) ? readCompaction(item) : undefined;
  return summary === undefined ? text : JSON.stringify({ type: "message", role: "user", content: summary });
}

function isUnreadable(text: string): boolean {
  if (!text.includes('"reasoning"')) return false;
  const item: unknown = JSON.parse(text);
  if (!isJsonObject(item) || item.type !== "reasoning") return false;
  return !isSet(item.encrypted_content) || isEncodedReasoning(item.encrypted_content);
}

/** Fields that refer to data stored for the operator's account, which may belong to another user. */
const STORED_FIELDS = ["previous_response_id", "conversation"];

/**
 * Returns the path of the first reference to stored data: an earlier answer, an item, or a container with
 * files. Returns `undefined` when there is none.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-code-interpreter
 */
function findStored(body: JsonObject, items: readonly JsonObject[]): string | undefined {
  const field = STORED_FIELDS.find((each) => isSet(body[each]));
  if (field !== undefined) return field;
  const reference = items.findIndex(isReference);
  if (reference >= 0) return `input[${reference}]`;
  const container = findContainer(body.tools, "tools");
  if (container !== undefined) return container;
  for (const [position, { tools }] of items.entries()) {
    const found = tools === undefined ? undefined : findContainer(tools, `input[${position}].tools`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findContainer(tools: unknown, path: string): string | undefined {
  for (const [position, tool] of readArray(tools).entries()) {
    if (!isJsonObject(tool)) continue;
    const { container, environment } = tool;
    if (typeof container === "string") return `${path}[${position}].container`;
    if (isJsonObject(environment) && isSet(environment.container_id)) {
      return `${path}[${position}].environment.container_id`;
    }
  }
  return undefined;
}

/** Throws `unpriced_field` with the path of the first field that may change the model or the price. */
function rejectUnpriced(body: JsonObject, items: readonly JsonObject[]): void {
  UNPRICED_RULE.reject(body, false);
  rejectUnpricedAbilities(body);
  // The items `additional_tools` and `tool_search_output` define tools too.
  for (const [position, { tools }] of items.entries()) {
    if (tools !== undefined) rejectUnpricedTools(readArray(tools), `input[${position}].tools`);
  }
}
