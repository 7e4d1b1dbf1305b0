import type { ChatRequest, OutputFormat, Reasoning } from "../../../domain/chat-request.ts";
import { createValueBudget, isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject, readText } from "../../json/read.ts";
import {
  readBudget,
  readNumber,
  reject,
  rejectUntranslatable,
  SHARES,
  TEMPERATURES,
} from "../../request-body.ts";
import { GENERATION, join, type Members, REQUEST, readInteger, readMember, THINKING } from "../names.ts";
import { readContents } from "./read-contents.ts";
import { readOpenApiSchema } from "./read-schema.ts";
import { readTools } from "./read-tools.ts";

type Generation = ReturnType<(typeof GENERATION)["read"]>;

/**
 * Reads a checked body into the neutral request. Throws `untranslatable` with the path of a member that no other
 * format can express. Throws `wrong_shape` for an unreadable member and for more than 100,000 JSON values. Drops
 * safety settings and labels.
 *
 * @see https://ai.google.dev/api/generate-content#request-body
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  createValueBudget(body);
  const members = REQUEST.read(body, "");
  const path = REQUEST.spellingOf(body, "generationConfig");
  const config = GENERATION.read(readMember(members.generationConfig, path) ?? {}, path);
  rejectOthers(config, path);
  return {
    turns: readContents(members),
    ...readTools(members),
    parallelToolCalls: undefined,
    reasoning: readReasoning(config, path),
    format: readFormat(config, path),
    stopSequences: readStops(config.stopSequences, join(path, "stopSequences")),
    ...readSampling(config),
    endUser: undefined,
  };
}

function rejectOthers({ candidateCount, responseLogprobs, logprobs }: Generation, path: string): void {
  if ((readInteger(candidateCount, join(path, "candidateCount")) ?? 1) > 1)
    rejectUntranslatable(join(path, "candidateCount"));
  if (responseLogprobs === true || isSet(logprobs)) rejectUntranslatable(join(path, "responseLogprobs"));
}

const COUNTS = { min: 0, max: Number.MAX_SAFE_INTEGER };

function readSampling(config: Generation) {
  const { topK } = config;
  return {
    temperature: readNumber(config, "temperature", TEMPERATURES),
    topP: readNumber(config, "topP", SHARES),
    topK: isSet(topK) ? Math.floor(readNumber(config, "topK", COUNTS) ?? 0) || undefined : undefined,
    seed: readInteger(config.seed, "generationConfig.seed"),
    presencePenalty: readNumber(config, "presencePenalty"),
    frequencyPenalty: readNumber(config, "frequencyPenalty"),
  };
}

const LEVELS = new Map<unknown, Reasoning["effort"]>([
  ["MINIMAL", "minimal"],
  ["LOW", "low"],
  ["MEDIUM", "medium"],
  ["HIGH", "high"],
]);

/**
 * Reads how much the model shall think. A budget of 0 disables it, and one of -1 leaves it to the model.
 *
 * @see https://ai.google.dev/gemini-api/docs/thinking
 */
function readReasoning({ thinkingConfig }: Members<"thinkingConfig">, path: string): Reasoning {
  const place = join(path, "thinkingConfig");
  const members = THINKING.read(readMember(thinkingConfig, place) ?? {}, place);
  const budget = readInteger(members.thinkingBudget, join(place, "thinkingBudget"));
  const isShown = members.includeThoughts === true;
  const effort = LEVELS.get(readText(members.thinkingLevel).toUpperCase());
  if (budget === 0) return { effort: "none", thinking: "disabled", budgetTokens: undefined, isShown: false };
  const budgetTokens = readBudget(budget) || undefined;
  if (budgetTokens !== undefined) return { effort, thinking: "enabled", budgetTokens, isShown };
  const isAsked = isShown || budget !== undefined || effort !== undefined;
  return { effort, thinking: isAsked ? "adaptive" : undefined, budgetTokens, isShown };
}

const PLAIN: readonly unknown[] = [undefined, "", "text/plain"];

/** Reads the format of the answer: JSON, with a schema in either of two languages. */
function readFormat(config: Generation, path: string): OutputFormat | undefined {
  const { responseMimeType: type, responseSchema, responseJsonSchema } = config;
  if (PLAIN.includes(type) && !isSet(responseSchema) && !isSet(responseJsonSchema)) return undefined;
  if (!PLAIN.includes(type) && type !== "application/json")
    rejectUntranslatable(join(path, "responseMimeType"));
  const [given, name] = isSet(responseJsonSchema)
    ? [responseJsonSchema, "responseJsonSchema"]
    : [responseSchema, "responseSchema"];
  if (!isSet(given)) return { kind: "json" };
  const place = join(path, name);
  if (!isJsonObject(given) || isTooDeep(given)) reject(place);
  const schema = name === "responseSchema" ? readOpenApiSchema(given, place) : given;
  return { kind: "schema", name: undefined, description: undefined, schema, strict: undefined };
}

function readStops(stops: unknown, path: string): readonly string[] {
  if (!isSet(stops)) return [];
  const list: readonly unknown[] = Array.isArray(stops) ? stops : [stops];
  return list.map((stop) => (typeof stop === "string" ? stop : reject(path))).filter((stop) => stop !== "");
}
