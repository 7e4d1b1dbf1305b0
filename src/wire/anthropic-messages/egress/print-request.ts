import type { ChatRequest, JsonSchema, OutputFormat, TextPart } from "../../../domain/chat-request.ts";
import type { PrintOptions } from "../../codecs.ts";
import { printCacheMark, printEndUser } from "../../request-fields.ts";
import { joinElements, joinMembers, printMembers } from "../json-members.ts";
import { arrangeMessages, printMessage, printParts } from "./print-messages.ts";
import { type PrintedReasoning, printReasoning } from "./print-reasoning.ts";
import { printTools } from "./print-tools.ts";
import { isOpenSchema, strictSchema } from "./strict-schema.ts";

/**
 * Prints the body of a messages request. Reasoning and sampling settings are included as far as the model
 * accepts them.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function printRequest(request: ChatRequest, options: PrintOptions): string {
  const { system, messages } = arrangeMessages(request.turns, { keepsReasoning: acceptsReasoning(options) });
  const reasoning = printReasoning(request, messages, options);
  const format = printFormat(request.format);
  const prompt = format.instruction ? [...system, format.instruction] : system;
  const settings = {
    model: options.model,
    max_tokens: options.outputTokensMax,
    stream: options.stream,
    ...printTools(request),
    thinking: reasoning.thinking,
    output_config: outputConfigOf(format.schema, reasoning),
    ...(options.traits.sampling && !reasoning.isThinking && samplingOf(request)),
    stop_sequences: stopSequencesOf(request),
    metadata: metadataOf(request),
    ...printCacheMark(request.cache),
  };
  return joinMembers({
    ...printMembers(settings),
    system: prompt.length > 0 ? printParts(prompt) : undefined,
    messages: joinElements(messages.map(printMessage)),
  });
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

/** Clamps the temperature to Anthropic's maximum of 1. Omits `top_p` beside it, which newer models reject. */
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
