import type {
  ChatRequest,
  JsonSchema,
  Part,
  ReasoningPart,
  ResultPart,
  Tool,
  ToolCallPart,
  ToolResultPart,
} from "../../../domain/chat-request.ts";
import {
  arrangeMessages,
  findRejectedMedia,
  isBlank,
  listCalledTools,
  type Media,
  type Message,
  markEnd,
} from "../../arrange-messages.ts";
import { markPrefixes, type PrintedThinking, printThinking } from "../../claude-request.ts";
import { isClaudeModel, type PrintOptions } from "../../format.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { isHostReasoning } from "../../host-reasoning.ts";
import { joinElements, joinMembers, printMembers } from "../../json/read.ts";
import { printCacheMark, printEndUser, printStopSequences } from "../../request-fields.ts";
import { isOpenSchema, printFormat, strictSchema } from "../../strict-schema.ts";
import { printMessagesTier } from "../../tiers.ts";

/**
 * Prints the body of a messages request. Reasoning and sampling settings are included as far as the model
 * accepts them.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function printRequest(request: ChatRequest, options: PrintOptions): string {
  const arranged = arrangeMessages(request.turns, {
    // A model without thinking rejects the thinking of another model.
    keepsReasoning: (part) => isClaudeModel(options.traits) && isSignedByAnthropic(part),
  });
  const reasoning = printThinking(request, arranged.messages, options);
  const format = printFormat(request.format);
  const instructed = format.instruction ? [...arranged.system, format.instruction] : arranged.system;
  const unmarked = { tools: request.tools, system: instructed, messages: arranged.messages };
  const { tools, system, messages } = options.marksPrefixes
    ? markPrefixes(unmarked, request, options.model)
    : unmarked;
  const settings = {
    ...printTarget(options),
    max_tokens: options.outputTokensMax,
    ...printMessagesTier(options.tier),
    ...printTools(request, tools),
    thinking: reasoning.thinking,
    output_config: outputConfigOf(format.schema, reasoning),
    ...(options.traits.sampling && !reasoning.isThinking && samplingOf(request)),
    stop_sequences: printStopSequences(request),
    metadata: metadataOf(request),
    // Other hosts of Anthropic's models take marks on blocks only.
    ...(!options.messagesHost && printCacheMark(request.cache)),
  };
  return joinMembers({
    ...printMembers(settings),
    system: system.length > 0 ? printParts(system) : undefined,
    messages: joinElements(
      (options.messagesHost ? markEnd(messages, request.cache) : messages).map(printMessage),
    ),
  });
}

/** The model, or the version of a host whose URL has the model, and the stream flag where the host takes it. */
function printTarget({ model, stream, messagesHost }: PrintOptions): object {
  if (!messagesHost) return { model, stream };
  const { version, hasStreamFlag } = messagesHost;
  return { anthropic_version: version, ...(hasStreamFlag && { stream }) };
}

function outputConfigOf(schema: JsonSchema | undefined, { effort }: PrintedThinking): object | undefined {
  if (schema === undefined) return effort === undefined ? undefined : { effort };
  return { effort, format: { type: "json_schema", schema } };
}

/** Clamps the temperature to Anthropic's maximum of 1. Omits `top_p`: newer models reject both together. */
function samplingOf({ temperature, topP, topK }: ChatRequest) {
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
  };
}

function metadataOf({ endUser }: ChatRequest): object | undefined {
  if (!endUser) return undefined;
  return { user_id: printEndUser(endUser) };
}

/**
 * Returns the tools and the tool choice. Anthropic requires tools in a conversation that contains calls. A
 * request that no longer offers tools therefore declares the called ones by name and forbids their use.
 */
function printTools(request: ChatRequest, tools: readonly Tool[]) {
  if (tools.length > 0) return { tools: tools.map(toolOf), tool_choice: choiceOf(request) };
  const names = listCalledTools(request.turns);
  if (names.length === 0) return {};
  const declared = names.map((name) => ({ name, input_schema: { type: "object" } }));
  return { tools: declared, tool_choice: { type: "none" } };
}

/** A tool stays strict only if closing every object of its schema does not change the schema's meaning. */
function toolOf({ name, description, schema, strict, cache }: Tool) {
  const { schema: object, unions } = hoistUnions(schema);
  const isStrict = strict && unions === undefined && !isOpenSchema(object);
  return {
    name,
    description: describeUnions(description, unions),
    input_schema: isStrict ? strictSchema(object) : object,
    ...(isStrict && { strict }),
    ...printCacheMark(cache),
  };
}

function choiceOf({ toolChoice, parallelToolCalls }: ChatRequest) {
  if (toolChoice?.kind === "none") return { type: "none" };
  const single = parallelToolCalls === false && { disable_parallel_tool_use: true };
  if (!toolChoice) return single ? { type: "auto", ...single } : undefined;
  if (toolChoice.kind === "tool") return { type: "tool", name: toolChoice.name, ...single };
  return { type: toolChoice.kind === "required" ? "any" : "auto", ...single };
}

/** Returns whether the signature of reasoning is Anthropic's: a host can read only what it signed itself. */
function isSignedByAnthropic({ signature = "", redacted }: ReasoningPart): boolean {
  return redacted === undefined
    ? signature !== "" && !isHostReasoning(signature)
    : !isHostReasoning(redacted);
}

/** Prints one arranged message as JSON. */
function printMessage({ role, parts }: Message): string {
  return joinMembers({ role: JSON.stringify(role), content: printParts(parts) });
}

/** Prints parts as a JSON array of content blocks. */
function printParts(parts: readonly Part[]): string {
  return joinElements(parts.map(printPart));
}

function printPart(part: Part): string {
  switch (part.kind) {
    case "tool_call":
      return printCall(part);
    case "tool_result":
      return JSON.stringify(resultBlock(part));
    case "reasoning":
      return JSON.stringify(thinkingBlock(part));
    default:
      return JSON.stringify(contentBlock(part));
  }
}

/** Prints the input as the client wrote it, because parsing would round long numbers. */
function printCall({ id, name, input, cache }: ToolCallPart): string {
  return joinMembers({ ...printMembers({ type: "tool_use", id, name, ...printCacheMark(cache) }), input });
}

function resultBlock({ callId, parts, isError, cache }: ToolResultPart) {
  const content = parts.filter((part) => !isBlank(part));
  const [only] = content;
  const isPlainText = content.length === 1 && only?.kind === "text" && !only.cache;
  return {
    type: "tool_result",
    tool_use_id: callId,
    ...(content.length > 0 && { content: isPlainText ? only.text : content.map(contentBlock) }),
    ...(isError && { is_error: true }),
    ...printCacheMark(cache),
  };
}

function thinkingBlock({ text, signature, redacted }: ReasoningPart) {
  return redacted === undefined
    ? { type: "thinking", thinking: text, signature }
    : { type: "redacted_thinking", data: redacted };
}

function contentBlock(part: ResultPart) {
  if (part.kind === "text") return { type: "text", text: part.text, ...printCacheMark(part.cache) };
  const title = part.kind === "document" ? part.name : undefined;
  return { type: part.kind, source: sourceOf(part), title, ...printCacheMark(part.cache) };
}

function sourceOf({ source }: Media) {
  if (source.kind === "url") return { type: "url", url: source.url };
  if (source.kind === "text") return { type: "text", media_type: "text/plain", data: source.text };
  return { type: "base64", media_type: source.mediaType, data: source.data };
}

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const DOCUMENT_TYPES = ["application/pdf"];

/**
 * Returns the path of the first image or document that Anthropic rejects, or `undefined`. Anthropic accepts
 * some media types, in user messages only.
 */
export function findUntranslatable(request: ChatRequest): string | undefined {
  return findRejectedMedia(request, ({ kind, source }, role) => {
    if (role !== "user") return false;
    if (source.kind !== "inline") return true;
    return (kind === "image" ? IMAGE_TYPES : DOCUMENT_TYPES).includes(source.mediaType);
  });
}
