import { GatewayError } from "../../errors.ts";
import { editElements, editMembers, onceEach } from "../json/edit.ts";
import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import { inputSizeOf, joinPromptText } from "../prompt-size.ts";
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
import { isEncodedReasoning } from "./encrypted-reasoning.ts";
import { readEchoedFields } from "./ingress/echoed-fields.ts";
import { readChatRequest } from "./ingress/read-request.ts";
import { requireItems } from "./items.ts";
import { countReadings, sizeOfInput } from "./size.ts";
import { findStored } from "./stored.ts";
import { rejectUnpriced, UNPRICED_NAMES } from "./unpriced-fields.ts";

/**
 * Fields that the gateway checks or edits. Each is sent once, so that an upstream cannot read a second value.
 */
const SENT_ONCE = new Set([
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
]);
const ONCE = onceEach(SENT_ONCE);
const FIELDS = new Set([...SENT_ONCE, ...UNPRICED_NAMES, "plugins"]);

/**
 * Parses and checks a responses body. Item types, part types and unknown fields are left to the upstream.
 * Throws `not_json`, `wrong_shape` (also for repeated keys) and `unpriced_field`. Throws `nothing_stored` for
 * references to stored data, and `untranslatable` for a stored prompt or a background answer.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys, again } = parseBody(text, FIELDS);
  const model = requireModel(body);
  const items = requireItems(body);
  checkOptions(body);
  // An upstream may read the other of two values, which the checks below have not seen.
  if (repeatsKeys) throw new GatewayError("wrong_shape");
  rejectStored(body, items);
  rejectUnpriced(body, items);
  return {
    text,
    model,
    stream: readFlag(body, "stream"),
    outputTokensMax: readPositive(body, "max_output_tokens"),
    outputLimitField: undefined,
    thinkingTokens: 0,
    choices: 1,
    wantsUsage: true,
    input: { ...inputSizeOf(text, sizeOfInput(body, items), repeatsKeys), readings: countReadings(body) },
    promptText: () => promptTextOf(again()),
    readChat: () => readChatRequest(again()),
    readEchoedFields: () => readEchoedFields(again()),
  };
}

/**
 * Prints the body for an upstream of this format. Sets the model name and the output limit. Turns `store`
 * off, because no later request may refer to the answer. Drops reasoning that the upstream cannot read.
 */
export function printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  return editMembers(request.text, {
    ...ONCE,
    model: () => JSON.stringify(options.model),
    max_output_tokens: () => String(options.outputTokensMax),
    store: () => "false",
    input: (value) => value && dropUnreadable(value),
  });
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
 * provider. The upstream would reject the whole request for either.
 */
function dropUnreadable(input: string): string {
  if (!input.startsWith("[") || !input.includes('"reasoning"')) return input;
  const kept: string[] = [];
  editElements(input, (item) => {
    if (!isUnreadable(item)) kept.push(item);
    return item;
  });
  return `[${kept.join(",")}]`;
}

function isUnreadable(text: string): boolean {
  if (!text.includes('"reasoning"')) return false;
  const item: unknown = JSON.parse(text);
  if (!isJsonObject(item) || item.type !== "reasoning") return false;
  return !isSet(item.encrypted_content) || isEncodedReasoning(item.encrypted_content);
}

function promptTextOf(body: JsonObject): string {
  return joinPromptText([body.instructions, body.input, body.tools]);
}
