import type { OutputFormat, Reasoning } from "../../../domain/chat-request.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import { readList, readNumber, readObject, reject, rejectUntranslatable } from "../../request-body.ts";
import { isEffort } from "../../request-fields.ts";

/** How much to reason, and whether a summary of it is wanted. */
export function readReasoning(body: JsonObject): Reasoning {
  const { effort, summary, generate_summary: oldSummary } = readObject(body, "reasoning") ?? {};
  if (isSet(effort) && !isEffort(effort)) reject("reasoning.effort");
  return {
    effort: isEffort(effort) ? effort : undefined,
    thinking: undefined,
    budgetTokens: undefined,
    isShown: isSet(summary ?? oldSummary),
  };
}

/** The form that the answer shall have; a wish for more or fewer words is dropped. */
export function readFormat(body: JsonObject): OutputFormat | undefined {
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

/** Probabilities would be missed, and no other format of an answer that we read has them. */
export function rejectLogprobs(body: JsonObject): void {
  const wanted = readNumber(body, "top_logprobs");
  if (wanted !== undefined && wanted > 0) rejectUntranslatable("top_logprobs");
  if (readList(body, "include").includes("message.output_text.logprobs")) rejectUntranslatable("include");
}
