import type {
  ChatRequest,
  Effort,
  JsonSchema,
  OutputFormat,
  Reasoning,
  TextPart,
  Tool,
  Turn,
} from "../../../domain/chat-request.ts";
import type { PrintOptions } from "../../codecs.ts";
import { describeUnions, hoistUnions } from "../../hoist-unions.ts";
import { printCacheMark, printEndUser } from "../../request-fields.ts";
import { joinElements, joinMembers, printMembers } from "../json-members.ts";
import { markPrefixes } from "./mark-prefixes.ts";
import { arrangeMessages, type Message, printMessage, printParts } from "./print-messages.ts";
import { isOpenSchema, strictSchema } from "./strict-schema.ts";

/**
 * Prints the body of a messages request. Reasoning and sampling settings are included as far as the model
 * accepts them.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function printRequest(request: ChatRequest, options: PrintOptions): string {
  const arranged = arrangeMessages(request.turns, { keepsReasoning: acceptsReasoning(options) });
  const reasoning = printReasoning(request, arranged.messages, options);
  const format = printFormat(request.format);
  const instructed = format.instruction ? [...arranged.system, format.instruction] : arranged.system;
  const unmarked = { tools: request.tools, system: instructed, messages: arranged.messages };
  const { tools, system, messages } = options.marksPrefixes
    ? markPrefixes(unmarked, request, options.model)
    : unmarked;
  const settings = {
    ...printTarget(options),
    max_tokens: options.outputTokensMax,
    ...printTools(request, tools),
    thinking: reasoning.thinking,
    output_config: outputConfigOf(format.schema, reasoning),
    ...(options.traits.sampling && !reasoning.isThinking && samplingOf(request)),
    stop_sequences: stopSequencesOf(request),
    metadata: metadataOf(request),
    ...printCacheMark(request.cache),
  };
  return joinMembers({
    ...printMembers(settings),
    system: system.length > 0 ? printParts(system) : undefined,
    messages: joinElements(messages.map(printMessage)),
  });
}

/** The model, or the version of a host whose URL has the model, and the stream flag where the host takes it. */
function printTarget({ model, stream, messagesHost }: PrintOptions): object {
  if (!messagesHost) return { model, stream };
  const { version, hasStreamFlag } = messagesHost;
  return { anthropic_version: version, ...(hasStreamFlag && { stream }) };
}

/** A model without thinking rejects the thinking of another model. */
function acceptsReasoning({ traits }: PrintOptions): boolean {
  return traits.reasoning === "budget" || traits.reasoning === "adaptive";
}

/** The answer's format: a schema that the provider enforces, or an instruction in the system prompt. */
interface PrintedFormat {
  readonly schema: JsonSchema | undefined;
  readonly instruction: TextPart | undefined;
}

const JSON_ONLY = "Answer with a single JSON object and nothing else: no other text and no code fence.";

/** A schema becomes an instruction when the provider could enforce it only with another meaning. */
function printFormat(format: OutputFormat | undefined): PrintedFormat {
  if (format === undefined) return { schema: undefined, instruction: undefined };
  if (format.kind === "json") return { schema: undefined, instruction: instructionOf(JSON_ONLY) };
  const { schema, description } = format;
  const described = description === undefined ? schema : { description, ...schema };
  if (!isOpenSchema(schema)) return { schema: strictSchema(described), instruction: undefined };
  const rule = `It follows this JSON schema:\n\n${JSON.stringify(described)}`;
  return { schema: undefined, instruction: instructionOf(`${JSON_ONLY} ${rule}`) };
}

function instructionOf(text: string): TextPart {
  return { kind: "text", text, cache: undefined };
}

function outputConfigOf(schema: JsonSchema | undefined, { effort }: PrintedReasoning): object | undefined {
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

/** Drops blank stop sequences, which Anthropic rejects. */
function stopSequencesOf({ stopSequences }: ChatRequest): readonly string[] | undefined {
  const accepted = stopSequences.filter((sequence) => /\S/.test(sequence));
  return accepted.length > 0 ? accepted : undefined;
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
  const names = namesCalled(request.turns);
  if (names.length === 0) return {};
  const declared = names.map((name) => ({ name, input_schema: { type: "object" } }));
  return { tools: declared, tool_choice: { type: "none" } };
}

/** Whether the tool choice forces the model to call a tool. */
function isForced({ tools, toolChoice }: ChatRequest): boolean {
  return tools.length > 0 && (toolChoice?.kind === "required" || toolChoice?.kind === "tool");
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

function namesCalled(turns: readonly Turn[]): readonly string[] {
  const names = turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.kind === "tool_call" ? [part.name] : [])),
  );
  return [...new Set(names)];
}

/** Reasoning settings of a request: the `thinking` member, and the effort in `output_config`. */
interface PrintedReasoning {
  readonly thinking: object | undefined;
  readonly effort: string | undefined;
  /** Whether the model will think: sampling settings must then be left out. */
  readonly isThinking: boolean;
}

/** Share of the output limit that each effort becomes, for models that take a budget. */
const SHARES: Readonly<Record<Exclude<Effort, "none">, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const BUDGET_MIN = 1024;
const BUDGET_MAX = 128_000;
/** Output tokens that a thinking budget leaves for the answer. */
const ANSWER_TOKENS_MIN = 256;
const NO_SETTINGS: PrintedReasoning = { thinking: undefined, effort: undefined, isThinking: false };

/** Returns the reasoning settings, as far as the model has them and the conversation allows thinking. */
function printReasoning(
  request: ChatRequest,
  messages: readonly Message[],
  { outputTokensMax, traits }: Pick<PrintOptions, "outputTokensMax" | "traits">,
): PrintedReasoning {
  const { reasoning } = request;
  const isOff = reasoning.effort === "none" || reasoning.thinking === "disabled";
  const isRequested = reasoning.effort !== undefined || reasoning.thinking !== undefined;
  if (!isRequested || traits.reasoning === "none") return NO_SETTINGS;
  if (isOff)
    return traits.reasoning === "adaptive" ? { ...NO_SETTINGS, thinking: { type: "disabled" } } : NO_SETTINGS;
  if (traits.reasoning === "budget") return printBudget(request, messages, outputTokensMax);
  const effort = effortOf(reasoning);
  if (traits.reasoning === "effort" || isForced(request)) return { ...NO_SETTINGS, effort };
  const display = reasoning.isShown ? "summarized" : "omitted";
  return { thinking: { type: "adaptive", display }, effort, isThinking: true };
}

function printBudget(
  request: ChatRequest,
  messages: readonly Message[],
  outputTokensMax: number,
): PrintedReasoning {
  const budget = budgetOf(request.reasoning, outputTokensMax);
  if (budget === undefined || isForced(request) || continuesWithoutThinking(messages)) return NO_SETTINGS;
  return { ...NO_SETTINGS, thinking: { type: "enabled", budget_tokens: budget }, isThinking: true };
}

/** Maps "minimal" to "low", Anthropic's lowest effort. */
function effortOf({ effort }: Reasoning): string | undefined {
  return effort === "minimal" ? "low" : effort;
}

/**
 * Returns the client's budget or the effort's share, clamped; `undefined` when the output limit is too small.
 */
function budgetOf({ effort, budgetTokens }: Reasoning, outputTokensMax: number): number | undefined {
  const share = SHARES[effort === undefined || effort === "none" ? "medium" : effort];
  const wanted = budgetTokens ?? Math.floor(outputTokensMax * share);
  const max = Math.min(outputTokensMax - ANSWER_TOKENS_MIN, BUDGET_MAX);
  return max < BUDGET_MIN ? undefined : Math.max(BUDGET_MIN, Math.min(wanted, max));
}

/** Returns whether the model continues an answer without thinking. Anthropic then rejects a budget. */
function continuesWithoutThinking(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role === "assistant") return true;
  const answered = last?.parts.some(({ kind }) => kind === "tool_result") ? messages.at(-2) : undefined;
  return answered?.role === "assistant" && answered.parts[0]?.kind !== "reasoning";
}
