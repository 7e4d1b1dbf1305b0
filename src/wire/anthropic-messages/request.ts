import type { JsonObject } from "../json-read.ts";
import { editMembers, sayEachOnce } from "../json-text.ts";
import { inputSizeOf } from "../part-size.ts";
import { joinPromptText } from "../prompt-text.ts";
import {
  parseBody,
  readBudget,
  readFlag,
  readList,
  readObject,
  readPositive,
  refuseUnpriced,
  requireMessages,
  requireModel,
  requireOneOf,
} from "../request-body.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../wire-protocol.ts";
import { allowBodyBetas, BETA_FIELDS, readBodyBetas } from "./betas.ts";
import { readChatRequest } from "./client/read-request.ts";
import { countReadings, sizeOfMessages } from "./input-size.ts";

/** What is checked or edited here: an upstream must take it from nowhere else. */
const FIELDS = new Set([
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
  ...BETA_FIELDS,
]);
const ONCE = sayEachOnce(FIELDS);

/** Reads and checks a messages body. Roles, block types and unknown fields are the upstream's to judge. */
export function parseRequest(text: string): ModelRequest {
  const { body, repeatsKeys, again } = parseBody(text, FIELDS);
  const model = requireModel(body);
  const messages = requireMessages(body);
  readList(body, "tools");
  refuseUnpriced(body);
  // Where the model runs has a price of its own.
  requireOneOf(body, "inference_geo", ["global"]);
  return {
    text,
    model,
    stream: readFlag(body, "stream"),
    outputTokensMax: readPositive(body, "max_tokens"),
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

/** The body for an upstream: its model name and the output ceiling, filled in where the client named none. */
export function printUpstreamRequest(request: ModelRequest, options: UpstreamRequestOptions): string {
  return editMembers(request.text, {
    ...ONCE,
    model: () => JSON.stringify(options.model),
    max_tokens: () => String(options.outputTokensMax),
    ...(request.betas && allowBodyBetas(options.betas)),
  });
}

function promptTextOf(body: JsonObject): string {
  return joinPromptText([body.system, body.messages, body.tools]);
}
