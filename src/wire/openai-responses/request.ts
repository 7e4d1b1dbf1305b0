import { GatewayError } from "../../errors.ts";
import { isJsonObject, isSet, type JsonObject } from "../json/read.ts";
import { editElements, editMembers, sayEachOnce } from "../json/text.ts";
import { inputSizeOf } from "../part-size.ts";
import { joinPromptText } from "../prompt-text.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../protocol.ts";
import {
  parseBody,
  readFlag,
  readList,
  readObject,
  readPositive,
  refuse,
  refuseUntranslatable,
  requireModel,
} from "../request-body.ts";
import { isSeal } from "./encrypted-reasoning.ts";
import { readChatRequest } from "./ingress/read-request.ts";
import { readAsked } from "./ingress/request-context.ts";
import { requireItems } from "./items.ts";
import { countReadings, sizeOfInput } from "./size.ts";
import { findStored } from "./stored.ts";
import { refuseUnpriced, UNPRICED_NAMES } from "./unpriced-fields.ts";

/** What is checked or edited here: an upstream must take it from nowhere else. */
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
const ONCE = sayEachOnce(SENT_ONCE);
const FIELDS = new Set([...SENT_ONCE, ...UNPRICED_NAMES, "plugins"]);
/**
 * Reads and checks a responses body. Item and part types and unknown fields are the upstream's to judge. Throws
 * `nothing_stored` for what only an upstream's store could bring in, `untranslatable` for a stored prompt and for an
 * answer in the background, `not_json`, `wrong_shape` and `unpriced_field`.
 */
export function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys, again } = parseBody(text, FIELDS);
  const model = requireModel(body);
  const items = requireItems(body);
  checkOptions(body);
  // An upstream may go by the other of two values, and so find what is refused below.
  if (repeatsKeys) throw new GatewayError("wrong_shape");
  refuseStored(body, items);
  refuseUnpriced(body, items);
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
    readAsked: () => readAsked(again()),
  };
}

/** The body for an upstream: its model name, the output ceiling, and nothing stored, as nobody could ask for it. */
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
  if (isSet(instructions) && typeof instructions !== "string") refuse("instructions");
  readList(body, "tools");
  readList(body, "include");
  readObject(body, "text");
  readObject(body, "reasoning");
}

/** Refuses what could only be answered by who keeps answers, or later. */
function refuseStored(body: JsonObject, items: readonly JsonObject[]): void {
  const stored = findStored(body, items);
  if (stored !== undefined) throw new GatewayError("nothing_stored", { path: stored });
  if (isSet(body.prompt)) refuseUntranslatable("prompt");
  if (readFlag(body, "background")) refuseUntranslatable("background");
}

/**
 * Takes out reasoning that an upstream would look up where nothing is stored, or that another provider sealed:
 * it would refuse the whole request for it.
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
  return !isSet(item.encrypted_content) || isSeal(item.encrypted_content);
}

function promptTextOf(body: JsonObject): string {
  return joinPromptText([body.instructions, body.input, body.tools]);
}
