import type { ChatRequest, JsonSchema, TextPart, Tool } from "../../../domain/chat-request.ts";
import { arrangeMessages, listCalledTools, markEnd } from "../../arrange-messages.ts";
import { markPrefixes, type PrintedThinking, printThinking } from "../../claude-request.ts";
import { isClaudeModel, type PrintOptions } from "../../format.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { joinElements, joinMembers, printMembers } from "../../json/read.ts";
import { printStopSequences } from "../../request-fields.ts";
import { isOpenSchema, printFormat, strictSchema } from "../../strict-schema.ts";
import { printConverseTier } from "../../tiers.ts";
import { featuresOf, type ModelFeatures } from "../model-id.ts";
import { createReasoningPrinter } from "../reasoning.ts";
import { createDocumentNamer, printCachePoint, printMessage } from "./print-messages.ts";

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
    ...printConverseTier(options.tier),
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

/**
 * Prints the tools and the choice among them. Converse requires tools in a conversation that contains calls, so
 * that a request which no longer offers any declares the called ones by name. It has no choice of none: tools
 * that a client forbids are left out where no call refers to them.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolConfiguration.html
 */
function printTools(request: ChatRequest, features: ModelFeatures): string | undefined {
  const { tools, toolChoice, turns } = request;
  const called = listCalledTools(turns);
  const isForbidden = tools.length === 0 || toolChoice?.kind === "none";
  if (isForbidden && called.length === 0) return undefined;
  const printed =
    tools.length > 0 ? tools.flatMap((tool) => printTool(tool, features)) : called.map(printCalledTool);
  return joinMembers({
    tools: joinElements(printed),
    toolChoice: isForbidden ? undefined : JSON.stringify(choiceOf(request)),
  });
}

function printTool(tool: Tool, features: ModelFeatures): readonly string[] {
  // Amazon's models have cache points in messages and system prompts only.
  const cachePoint = features.isClaude ? printCachePoint(tool.cache, features) : [];
  return [JSON.stringify({ toolSpec: specOf(tool, features) }), ...cachePoint];
}

/** A tool stays strict only if closing every object of its schema does not change the schema's meaning. */
function specOf({ name, description, schema, strict }: Tool, { enforcesSchemas }: ModelFeatures) {
  const { schema: object, unions } = hoistUnions(schema);
  const isStrict = strict && enforcesSchemas && unions === undefined && !isOpenSchema(object);
  return {
    name,
    // Converse refuses an empty description.
    description: describeUnions(description, unions) || undefined,
    inputSchema: { json: isStrict ? strictSchema(object) : object },
    ...(isStrict && { strict }),
  };
}

function printCalledTool(name: string): string {
  return JSON.stringify({ toolSpec: { name, inputSchema: { json: { type: "object" } } } });
}

/** `auto` is the default, and models without a choice refuse it. */
function choiceOf({ toolChoice }: ChatRequest): object | undefined {
  if (toolChoice?.kind === "tool") return { tool: { name: toolChoice.name } };
  return toolChoice?.kind === "required" ? { any: {} } : undefined;
}
