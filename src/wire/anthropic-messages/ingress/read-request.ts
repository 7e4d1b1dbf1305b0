import type { ChatRequest, OutputFormat, Reasoning } from "../../../domain/chat-request.ts";
import { createValueBudget, isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import {
  readBudget,
  readList,
  readNumber,
  readObject,
  reject,
  rejectUntranslatable,
  SHARES,
} from "../../request-body.ts";
import { isEffort } from "../../request-fields.ts";
import { isNewThread } from "../stored.ts";
import { readMessages } from "./read-messages.ts";
import { readTools } from "./read-tools.ts";

/** Fields for state that the provider keeps or runs beside the conversation. No other format has them. */
const REMOTE_FIELDS = ["container", "thread", "compaction"];

/**
 * Reads a checked messages body into the neutral request. Throws `untranslatable` with the path of a field
 * that no other format can express. Throws `wrong_shape` for an unreadable field and for more than 100,000
 * JSON values.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  // The body's own values are the whole budget: no string of this format contains JSON.
  createValueBudget(body);
  rejectRemote(body);
  return {
    turns: readMessages(body),
    ...readTools(body),
    reasoning: readReasoning(body),
    format: readFormat(body),
    stopSequences: readStopSequences(body),
    temperature: readNumber(body, "temperature", SHARES),
    topP: readNumber(body, "top_p", SHARES),
    topK: readNumber(body, "top_k"),
    endUser: readEndUser(body),
  };
}

function rejectRemote(body: JsonObject): void {
  const remote = REMOTE_FIELDS.find((field) => isSet(body[field]) && !isNewThread(body[field]));
  if (remote !== undefined) rejectUntranslatable(remote);
  if (readArray(body.mcp_servers).length > 0) rejectUntranslatable("mcp_servers");
  // A limit of 0 only warms the cache, which no other format can express.
  if (body.max_tokens === 0) rejectUntranslatable("max_tokens");
}

const THINKING: readonly unknown[] = ["enabled", "adaptive", "disabled"] satisfies Reasoning["thinking"][];

/** Reads the reasoning settings. Ignores unknown values of `thinking.type` and `effort`. */
function readReasoning(body: JsonObject): Reasoning {
  const { type, display, budget_tokens: budget } = readObject(body, "thinking") ?? {};
  const { effort } = isJsonObject(body.output_config) ? body.output_config : {};
  const thinking = isThinking(type) ? type : undefined;
  return {
    effort: isEffort(effort) ? effort : undefined,
    thinking,
    budgetTokens: thinking === "enabled" ? readBudget(budget) || undefined : undefined,
    isShown: (thinking === "enabled" || thinking === "adaptive") && display !== "omitted",
  };
}

function isThinking(value: unknown): value is NonNullable<Reasoning["thinking"]> {
  return THINKING.includes(value);
}

/** Reads the answer's format from `output_config.format`, or from the older `output_format`. */
function readFormat(body: JsonObject): OutputFormat | undefined {
  const config = isJsonObject(body.output_config) ? body.output_config : {};
  const [format, path] = isSet(config.format)
    ? [config.format, "output_config.format"]
    : [body.output_format, "output_format"];
  if (!isSet(format)) return undefined;
  if (!isJsonObject(format)) reject(path);
  const { type, schema } = format;
  if (type !== "json_schema") rejectUntranslatable(`${path}.type`);
  if (!isJsonObject(schema) || isTooDeep(schema)) reject(`${path}.schema`);
  return { kind: "schema", name: undefined, description: undefined, schema, strict: undefined };
}

function readStopSequences(body: JsonObject): readonly string[] {
  return readList(body, "stop_sequences")
    .map((sequence, position) =>
      typeof sequence === "string" ? sequence : reject(`stop_sequences[${position}]`),
    )
    .filter((sequence) => sequence !== "");
}

function readEndUser({ metadata }: JsonObject): string | undefined {
  return (isJsonObject(metadata) && readText(metadata.user_id)) || undefined;
}
