import type { ChatRequest, JsonSchema, TextPart } from "../../../domain/chat-request.ts";
import { arrangeMessages, markEnd } from "../../arrange-messages.ts";
import { type PrintedThinking, printThinking } from "../../claude-thinking.ts";
import { isClaudeModel, type PrintOptions } from "../../codecs.ts";
import { joinElements, joinMembers, printMembers } from "../../json/members.ts";
import { markPrefixes } from "../../mark-prefixes.ts";
import { printFormat } from "../../output-format.ts";
import { printStopSequences } from "../../request-fields.ts";
import { featuresOf, type ModelFeatures } from "../model-id.ts";
import { createReasoningPrinter } from "../reasoning.ts";
import { createDocumentNamer } from "./document-names.ts";
import { printCachePoint, printMessage } from "./print-messages.ts";
import { printTools } from "./print-tools.ts";

/**
 * Prints the body of a Converse request. The URL has the model and the stream flag. Settings that the model
 * does not take are left out.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function printRequest(request: ChatRequest, options: PrintOptions): string {
  const isClaude = isClaudeModel(options.traits);
  const features = featuresOf(options.model, isClaude);
  const printReasoning = createReasoningPrinter(options.origin, isClaude);
  const arranged = arrangeMessages(request.turns, {
    keepsReasoning: (part) => printReasoning(part) !== undefined,
  });
  const format = printFormat(request.format, features.enforcesSchemas);
  const thinking = printThinking(request, arranged.messages, options);
  const instructed = format.instruction ? [...arranged.system, format.instruction] : arranged.system;
  const unmarked = { tools: request.tools, system: instructed, messages: arranged.messages };
  const { tools, system, messages } = options.marksPrefixes
    ? markPrefixes(unmarked, request, options.model)
    : unmarked;
  const messageOptions = { features, printReasoning, nameDocument: createDocumentNamer() };
  return joinMembers({
    ...printMembers(settingsOf(request, { options, features, thinking, schema: format.schema })),
    toolConfig: printTools({ ...request, tools }, features),
    system:
      system.length > 0 ? joinElements(system.flatMap((part) => printSystem(part, features))) : undefined,
    messages: joinElements(
      markEnd(messages, request.cache).map((message) => printMessage(message, messageOptions)),
    ),
  });
}

function printSystem({ text, cache }: TextPart, features: ModelFeatures): readonly string[] {
  return [JSON.stringify({ text }), ...printCachePoint(cache, features)];
}

interface Settings {
  readonly options: PrintOptions;
  readonly features: ModelFeatures;
  readonly thinking: PrintedThinking;
  readonly schema: JsonSchema | undefined;
}

function settingsOf(request: ChatRequest, { options, features, thinking, schema }: Settings) {
  const sampling = options.traits.sampling && !thinking.isThinking;
  const effort = features.isClaude ? thinking.effort : undefined;
  const isConfigured = schema !== undefined || effort !== undefined;
  return {
    inferenceConfig: {
      maxTokens: options.outputTokensMax,
      ...(sampling && samplingOf(request, features)),
      stopSequences: printStopSequences(request),
    },
    outputConfig: isConfigured ? { textFormat: textFormatOf(schema), effort } : undefined,
    additionalModelRequestFields: filled({
      top_k: sampling && features.isClaude ? request.topK : undefined,
      thinking: thinking.thinking,
      ...(features.isClaude ? {} : effortFields(thinking, features)),
    }),
  };
}

/** Clamps the temperature to Converse's maximum of 1. Newer models of Claude reject both settings together. */
function samplingOf({ temperature, topP }: ChatRequest, { isClaude }: ModelFeatures) {
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    topP: isClaude && temperature !== undefined ? undefined : topP,
  };
}

/** @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_OutputConfig.html */
function textFormatOf(schema: JsonSchema | undefined) {
  if (schema === undefined) return undefined;
  const jsonSchema = { name: "answer", schema: JSON.stringify(schema) };
  return { type: "json_schema", structure: { jsonSchema } };
}

/** Efforts that models of other vendors take; they have none above "high". */
const EFFORTS: ReadonlyMap<string, string> = new Map([
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "high"],
  ["max", "high"],
]);

/**
 * Prints the effort for a model of another vendor than Anthropic. Amazon's models refuse an output limit at
 * the effort "high", and the limit is always sent.
 *
 * @see https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-openai.html
 */
function effortFields({ effort }: PrintedThinking, { isAmazon }: ModelFeatures): object {
  const known = EFFORTS.get(effort ?? "");
  if (known === undefined) return {};
  if (!isAmazon) return { reasoning_effort: known };
  const maxReasoningEffort = known === "high" ? "medium" : known;
  return { reasoningConfig: { type: "enabled", maxReasoningEffort } };
}

/** Returns an object, or `undefined` if none of its members has a value. */
function filled(object: Readonly<Record<string, unknown>>): object | undefined {
  return Object.values(object).some((value) => value !== undefined) ? object : undefined;
}
