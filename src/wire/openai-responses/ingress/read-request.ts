import type { ChatRequest, OutputFormat, Reasoning, Tool } from "../../../domain/chat-request.ts";
import { createValueBudget, isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import {
  readList,
  readNumber,
  readObject,
  reject,
  rejectUntranslatable,
  SHARES,
  TEMPERATURES,
} from "../../request-body.ts";
import { isEffort, readEndUser } from "../../request-fields.ts";
import { asksForCompaction, requireItems } from "../items.ts";
import { readMessages } from "./read-messages.ts";
import { readOfferedTools, readToolChoice } from "./read-tools.ts";

/**
 * Reads a checked responses body into the neutral request. Throws `untranslatable` with the path of a field
 * that no other format can express. Throws `wrong_shape` for an unreadable field and for more than 100,000
 * JSON values.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  const budget = createValueBudget(body);
  const items = requireItems(body);
  rejectLogprobs(body);
  const offered = readOfferedTools(body, items).map(({ tool }) => tool);
  return {
    turns: readMessages(body, items, budget),
    ...(asksForCompaction(items) ? withoutCalls(offered) : readToolUse(body, offered)),
    reasoning: readReasoning(body),
    format: asksForCompaction(items) ? undefined : readFormat(body),
    stopSequences: [],
    temperature: readNumber(body, "temperature", TEMPERATURES),
    topP: readNumber(body, "top_p", SHARES),
    topK: undefined,
    endUser: readEndUser(body),
  };
}

/** Rejects log probabilities: the client would miss them, and no other format that is read here has them. */
function rejectLogprobs(body: JsonObject): void {
  const wanted = readNumber(body, "top_logprobs");
  if (wanted !== undefined && wanted > 0) rejectUntranslatable("top_logprobs");
  if (readList(body, "include").includes("message.output_text.logprobs")) rejectUntranslatable("include");
}

/** Reads the tools and their use. A request without tools has no tool choice. */
function readToolUse(body: JsonObject, offered: readonly Tool[]) {
  const { tools, toolChoice } = readToolChoice(body, offered);
  if (tools.length === 0) return { tools, toolChoice: undefined, parallelToolCalls: undefined };
  return { tools, toolChoice, parallelToolCalls: readOptionalFlag(body, "parallel_tool_calls") };
}

/** Keeps tools, which earlier calls refer to, and forbids their use: a compaction is one text. */
function withoutCalls(tools: readonly Tool[]) {
  const toolChoice = tools.length > 0 ? ({ kind: "none" } as const) : undefined;
  return { tools, toolChoice, parallelToolCalls: undefined };
}

function readOptionalFlag(body: JsonObject, field: string): boolean | undefined {
  const value = body[field] ?? undefined;
  if (value !== undefined && typeof value !== "boolean") reject(field);
  return value;
}

/** Reads the reasoning effort, and whether the client wants a summary. */
function readReasoning(body: JsonObject): Reasoning {
  const { effort, summary, generate_summary: oldSummary } = readObject(body, "reasoning") ?? {};
  if (isSet(effort) && !isEffort(effort)) reject("reasoning.effort");
  return {
    effort: isEffort(effort) ? effort : undefined,
    thinking: undefined,
    budgetTokens: undefined,
    isShown: isSet(summary ?? oldSummary),
  };
}

/** Reads the answer's format from `text.format`. Drops `text.verbosity`. */
function readFormat(body: JsonObject): OutputFormat | undefined {
  const format = readObject(body, "text")?.format;
  if (!isSet(format)) return undefined;
  if (!isJsonObject(format)) reject("text.format");
  if (format.type === "text") return undefined;
  if (format.type === "json_object") return { kind: "json" };
  if (format.type !== "json_schema") rejectUntranslatable("text.format.type");
  const { name, description, schema, strict } = format;
  if (!isJsonObject(schema) || isTooDeep(schema)) reject("text.format.schema");
  return {
    kind: "schema",
    name: readText(name) || undefined,
    description: readText(description) || undefined,
    schema,
    strict: typeof strict === "boolean" ? strict : undefined,
  };
}
