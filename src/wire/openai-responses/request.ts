import { GatewayError } from "../../errors.ts";
import { isJsonObject, isSet, type JsonObject } from "../json-read.ts";
import { editElements, editMembers, sayOnce } from "../json-text.ts";
import { lazily } from "../lazily.ts";
import { inputSizeOf } from "../part-size.ts";
import { joinPromptText } from "../prompt-text.ts";
import {
  parseBody,
  readFlag,
  readList,
  readObject,
  readPositive,
  refuse,
  refuseUnpriced,
  requireModel,
} from "../request-body.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../wire-protocol.ts";
import { sizeOfInput } from "./input-size.ts";
import { isReference, requireItems } from "./items.ts";
import { readChatRequest } from "./read-request.ts";
import { isSeal } from "./sealed-reasoning.ts";

/** Fields that bring in what an upstream has stored under the operator's key, whoever of its users it came from. */
const STORED_FIELDS = ["previous_response_id", "conversation", "prompt"];

/** Reads and checks a responses body. Item and part types and unknown fields are the upstream's to judge. */
export function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys, again } = parseBody(text);
  const model = requireModel(body);
  const items = requireItems(body);
  checkOptions(body);
  // An upstream may go by the other of two values, and so find what is refused below.
  if (repeatsKeys) throw new GatewayError("wrong_shape");
  refuseStored(body, items);
  refuseUnpriced(body);
  return {
    text,
    model,
    stream: readFlag(body, "stream"),
    outputTokensMax: readPositive(body, "max_output_tokens"),
    outputLimitField: undefined,
    thinkingTokens: 0,
    choices: 1,
    wantsUsage: true,
    input: inputSizeOf(text, sizeOfInput(body, items), repeatsKeys),
    promptText: () => promptTextOf(again()),
    chat: lazily(() => readChatRequest(again())),
  };
}

/** The body for an upstream: its model name, the output ceiling, and nothing stored, as nobody could ask for it. */
export function printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  return editMembers(request.text, {
    model: () => JSON.stringify(options.model),
    max_output_tokens: () => String(options.outputTokensMax),
    store: () => "false",
    input: (value) => value && dropUnreadable(value),
    service_tier: sayOnce,
    speed: sayOnce,
    stream: sayOnce,
    tools: sayOnce,
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

/** Throws `untranslatable` for what could only be answered by who keeps answers, or later. */
function refuseStored(body: JsonObject, items: readonly JsonObject[]): void {
  const stored = STORED_FIELDS.find((field) => isSet(body[field]));
  if (stored) throw new GatewayError("untranslatable", { path: stored });
  if (readFlag(body, "background")) throw new GatewayError("untranslatable", { path: "background" });
  const reference = items.findIndex(isReference);
  if (reference >= 0) throw new GatewayError("untranslatable", { path: `input[${reference}]` });
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
