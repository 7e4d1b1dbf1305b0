import type { JsonObject } from "../json/read.ts";
import { editMembers, sayEachOnce } from "../json/text.ts";
import { inputSizeOf } from "../part-size.ts";
import { joinPromptText } from "../prompt-text.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../protocol.ts";
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
import { allowBodyBetas, BETA_FIELDS, readBodyBetas } from "./betas.ts";
import { readChatRequest } from "./ingress/read-request.ts";
import { dropSeals } from "./passthrough/drop-seals.ts";
import { countReadings, sizeOfMessages } from "./size.ts";
import { dropNewThread, refuseStored } from "./stored.ts";
import { refuseUnpriced, UNPRICED_NAMES } from "./unpriced-fields.ts";

/** What is checked or edited here: an upstream must take it from nowhere else. */
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
  ...BETA_FIELDS,
]);
const ONCE = sayEachOnce(SENT_ONCE);
const FIELDS = new Set([...SENT_ONCE, ...UNPRICED_NAMES]);
/** 0 asks for no answer: the prompt is only written to the provider's cache. */
const OUTPUT_TOKENS = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** Reads and checks a messages body. Roles, block types and unknown fields are the upstream's to judge. */
export function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys, again } = parseBody(text, FIELDS);
  const model = requireModel(body);
  // Before the messages, of which a continued thread may have none.
  refuseStored(body, repeatsKeys);
  const messages = requireMessages(body);
  readList(body, "tools");
  refuseUnpriced(body, messages, repeatsKeys);
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
      ...inputSizeOf(text, sizeOfMessages(body, messages), repeatsKeys),
      readings: countReadings(body),
    },
    betas: readBodyBetas(body),
    promptText: () => promptTextOf(again()),
    readChat: () => readChatRequest(again()),
  };
}

/** The body for an upstream: its model name, the output ceiling, and no new thread, which would be stored there. */
export function printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  return editMembers(request.text, {
    ...ONCE,
    model: () => JSON.stringify(options.model),
    max_tokens: () => String(options.outputTokensMax),
    thread: dropNewThread,
    messages: (value) => value && dropSeals(value),
    ...(request.betas && allowBodyBetas(options.betas)),
  });
}

function promptTextOf(body: JsonObject): string {
  return joinPromptText([body.system, body.messages, body.tools]);
}
