import type { ChatRequest, OutputFormat, Tool, ToolChoice } from "../../../domain/chat-request.ts";
import type { PrintOptions } from "../../codecs.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { isJsonObject } from "../../json/read.ts";
import { geminiSchema } from "./gemini-schema.ts";
import { printContents } from "./print-contents.ts";
import { printThinking, takesBudget } from "./print-thinking.ts";

/**
 * Prints the body of a `generateContent` call. The model and the stream flag are in its path. Drops cache
 * marks, the end user and `parallel_tool_calls`, which Gemini does not have.
 *
 * @see https://ai.google.dev/api/generate-content#request-body
 */
export function printRequest(chat: ChatRequest, options: PrintOptions): string {
  const isOlder = takesBudget(options);
  const { system, contents } = printContents(chat.turns, {
    origin: options.origin,
    requiresSignatures: !isOlder,
  });
  // Models before Gemini 3 reject an enforced format beside tools.
  const isInstructed = isOlder && chat.tools.length > 0;
  const instruction = isInstructed && chat.format ? [instructionFor(chat.format)] : [];
  const texts = [...system.map(({ text }) => text), ...instruction].filter((text) => text !== "");
  return JSON.stringify({
    systemInstruction: texts.length > 0 ? { parts: texts.map((text) => ({ text })) } : undefined,
    contents,
    ...printTools(chat),
    generationConfig: {
      maxOutputTokens: options.outputTokensMax,
      ...(options.traits.sampling && printSampling(chat)),
      stopSequences: chat.stopSequences.length > 0 ? chat.stopSequences : undefined,
      ...(!isInstructed && printFormat(chat.format)),
      thinkingConfig: printThinking(chat, options),
    },
  });
}

function printSampling({ temperature, topP, topK, seed, presencePenalty, frequencyPenalty }: ChatRequest) {
  return {
    temperature,
    topP,
    topK,
    // Gemini's seed has 32 bits.
    seed: seed === undefined ? undefined : seed | 0,
    // Some models reject any penalty, and 0 is the default of all.
    presencePenalty: presencePenalty || undefined,
    frequencyPenalty: frequencyPenalty || undefined,
  };
}

/** Prints the tools and the tool choice. */
function printTools({ tools, toolChoice }: ChatRequest): object {
  if (tools.length === 0) return {};
  return {
    tools: [{ functionDeclarations: tools.map(printTool) }],
    toolConfig: toolChoice && { functionCallingConfig: printChoice(toolChoice) },
  };
}

function printTool({ name, description, schema }: Tool): object {
  const { schema: object, unions } = hoistUnions(schema);
  const parameters = geminiSchema(object);
  return {
    name,
    // Gemini requires a description.
    description: describeUnions(description, unions) || name,
    parametersJsonSchema: hasParameters(parameters) ? parameters : undefined,
  };
}

/** Gemini rejects an object without properties; a tool without parameters has no schema. */
function hasParameters({ properties, $ref, additionalProperties }: Tool["schema"]): boolean {
  const hasProperties = isJsonObject(properties) && Object.keys(properties).length > 0;
  return hasProperties || $ref !== undefined || isJsonObject(additionalProperties);
}

function printChoice(choice: ToolChoice): object {
  if (choice.kind === "tool") return { mode: "ANY", allowedFunctionNames: [choice.name] };
  return { mode: { auto: "AUTO", none: "NONE", required: "ANY" }[choice.kind] };
}

/** Prints the format that Gemini enforces. */
function printFormat(format: OutputFormat | undefined): object {
  if (format === undefined) return {};
  if (format.kind === "json") return { responseMimeType: "application/json" };
  return { responseMimeType: "application/json", responseJsonSchema: geminiSchema(describedSchema(format)) };
}

const JSON_ONLY = "Answer with a single JSON object and nothing else: no other text and no code fence.";

/** The format as an instruction of the system prompt. */
function instructionFor(format: OutputFormat): string {
  if (format.kind === "json") return JSON_ONLY;
  return `${JSON_ONLY} It follows this JSON schema:\n\n${JSON.stringify(describedSchema(format))}`;
}

function describedSchema({ schema, description }: Extract<OutputFormat, { kind: "schema" }>) {
  return description === undefined ? schema : { description, ...schema };
}
