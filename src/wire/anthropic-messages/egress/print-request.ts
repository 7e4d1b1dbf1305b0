import type { ChatRequest, JsonSchema, Part } from "../../../domain/chat-request.ts";
import { printCacheMark } from "../../cache-mark.ts";
import type { PrintOptions } from "../../codecs.ts";
import { printEndUser } from "../../end-user.ts";
import { joinElements, joinMembers, printMembers } from "../json-members.ts";
import { printFormat } from "./print-format.ts";
import { arrangeTurns, type Message } from "./print-messages.ts";
import { printPart } from "./print-parts.ts";
import { type PrintedReasoning, printReasoning } from "./print-reasoning.ts";
import { printTools } from "./print-tools.ts";

/** The body of a messages call. Reasoning and sampling are told as far as the model takes them. */
export function printRequest(request: ChatRequest, options: PrintOptions): string {
  const { system, messages } = arrangeTurns(request.turns, { keepsReasoning: takesReasoning(options) });
  const reasoning = printReasoning(request, messages, options);
  const format = printFormat(request.format);
  const prompt = format.told ? [...system, format.told] : system;
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

/** A model that does not think refuses what another has thought. */
function takesReasoning({ traits }: PrintOptions): boolean {
  return traits.reasoning === "budget" || traits.reasoning === "adaptive";
}

function printMessage({ role, parts }: Message): string {
  return joinMembers({ role: JSON.stringify(role), content: printParts(parts) });
}

function printParts(parts: readonly Part[]): string {
  return joinElements(parts.map(printPart));
}

function outputConfigOf(schema: JsonSchema | undefined, { effort }: PrintedReasoning): object | undefined {
  if (schema === undefined) return effort === undefined ? undefined : { effort };
  return { effort, format: { type: "json_schema", schema } };
}

/** Anthropic's temperature ends at 1, and newer models refuse a `top_p` beside it. */
function samplingOf({ temperature, topP, topK }: ChatRequest) {
  return {
    temperature: temperature === undefined ? undefined : Math.min(temperature, 1),
    top_p: temperature === undefined ? topP : undefined,
    top_k: topK,
  };
}

function stopSequencesOf({ stopSequences }: ChatRequest): readonly string[] | undefined {
  const sayable = stopSequences.filter((sequence) => /\S/.test(sequence));
  return sayable.length > 0 ? sayable : undefined;
}

function metadataOf({ endUser }: ChatRequest): object | undefined {
  if (!endUser) return undefined;
  return { user_id: printEndUser(endUser) };
}
