import { isJsonObject, type JsonObject, parseJsonObject, readArray, readText } from "../json-read.ts";
import { editElements, editMembers } from "../json-text.ts";
import { SILENT } from "../reply-part.ts";
import { printSse } from "../sse.ts";
import {
  type ModelRequest,
  type ReplyPart,
  type ReplyReader,
  type SseEvent,
  UpstreamFault,
} from "../wire-protocol.ts";
import { type ChoiceStep, createChoiceReader } from "./choice.ts";
import { createModelRename } from "./model-name.ts";
import { readUsage } from "./usage.ts";

const END_MARK = "[DONE]";
const CHOICES_MAX = 128;
const OWN_ID_CHARS = 24;

/**
 * Reads a streamed chat answer. Chunks pass as they are but for the model's name, usage that was not
 * asked for, and what clients would break on. Keeps back what comes after the last open choice finished.
 */
export function readStream(request: ModelRequest): ReplyReader {
  const choices = new Map<number, ReturnType<typeof createChoiceReader>>();
  const modelText = JSON.stringify(request.model);
  const rename = createModelRename(modelText);
  let openChoices = 0;
  let held = "";
  let usageChunk: string | undefined;
  let isDone = false;

  const isAtRest = () => openChoices === 0 && choices.size > 0;
  const isFinished = () => isAtRest() && (isDone || choices.size >= request.choices);

  const openChoice = (index: number) => {
    const reader = createChoiceReader();
    choices.set(index, reader);
    openChoices += 1;
    return reader;
  };

  const readChoice = (choice: unknown, streamId: string): ChoiceStep => {
    if (!isJsonObject(choice)) throw new UpstreamFault("A choice is no object");
    // Some hosts fail one choice of a chunk; what they say of it is theirs to know.
    if (choice.error) throw new UpstreamFault("A choice is an error");
    const index = readIndex(choice, request.choices);
    const reader = choices.get(index) ?? openChoice(index);
    const wasFinished = reader.isFinished();
    const step = reader.read(choice, `${streamId}_${index}`);
    if (!wasFinished && reader.isFinished()) openChoices -= 1;
    return step;
  };

  /** Passes a chunk on, or keeps it back when it is the finish. */
  const pass = (data: string): string => {
    const frame = printSse({ data });
    if (!isFinished()) return frame;
    held = frame;
    return "";
  };

  const readChunk = (chunk: JsonObject, data: string): ReplyPart => {
    const usage = readUsage(chunk.usage);
    const hasUsage = isJsonObject(chunk.usage);
    if (hasUsage) usageChunk = data;
    const list = readArray(chunk.choices);
    // What a host still says behind its finish would come to the client before that.
    if (isFinished()) return { ...SILENT, usage };
    if (list.length > CHOICES_MAX) throw new UpstreamFault("There are too many choices");
    if (list.length === 0 && (hasUsage || !Array.isArray(chunk.choices))) return { ...SILENT, usage };

    const streamId = readText(chunk.id).slice(-OWN_ID_CHARS);
    const steps = list.map((choice) => readChoice(choice, streamId));
    const edited = editChunk(chunk, data, steps);
    const text = pass(chunk.model === request.model ? edited : rename(edited));
    return { ...sumOfSteps(steps), text, usage };
  };

  return {
    get finished() {
      return isFinished();
    },
    get done() {
      return isDone;
    },
    read(event) {
      if (isDone) return SILENT;
      if (event.data.startsWith(END_MARK)) {
        isDone = true;
        if (!isFinished()) throw new UpstreamFault("The answer ended without a finish");
        return SILENT;
      }
      const chunk = parseChunk(event);
      if (chunk) return readChunk(chunk, event.data);
      // A broken tail cannot take back an answer that is complete.
      if (isFinished()) return SILENT;
      throw new UpstreamFault("A chunk is not JSON");
    },
    ending() {
      if (!isFinished()) throw new Error("There is no ending before the finish");
      const usage = request.wantsUsage && usageChunk ? printUsageChunk(usageChunk, modelText) : "";
      return `${held}${usage}data: ${END_MARK}\n\n`;
    },
  };
}

/** Which of the choices that were asked for it is. */
function readIndex({ index = 0 }: JsonObject, choices: number): number {
  const isIndex = typeof index === "number" && Number.isInteger(index) && index >= 0;
  if (!isIndex || index >= choices) throw new UpstreamFault("A choice has no index");
  return index;
}

function parseChunk(event: SseEvent): JsonObject | undefined {
  if (event.event === "error") throw new UpstreamFault("The upstream reported an error");
  const chunk = parseJsonObject(event.data);
  if (chunk?.error) throw new UpstreamFault("The upstream reported an error");
  return chunk;
}

/** Whatever chunk the usage came on, it goes out on one without choices. */
function printUsageChunk(data: string, modelText: string): string {
  return printSse({ data: editMembers(data, { model: () => modelText, choices: () => "[]" }) });
}

/** Takes usage out and mends the choices; most chunks stay as they are. */
function editChunk(chunk: JsonObject, data: string, steps: readonly ChoiceStep[]): string {
  const hasUsage = chunk.usage !== undefined && chunk.usage !== null;
  const isMended = steps.some((step) => step.edits !== undefined);
  if (!hasUsage && !isMended) return data;
  return editMembers(data, {
    ...(hasUsage && { usage: () => "null" }),
    ...(isMended && { choices: (text) => text && mendChoices(text, steps) }),
  });
}

function mendChoices(text: string, steps: readonly ChoiceStep[]): string {
  return editElements(text, (choice, position) => editMembers(choice, steps[position]?.edits ?? {}));
}

function sumOfSteps(steps: readonly ChoiceStep[]): Omit<ReplyPart, "text" | "usage"> {
  let generated = "";
  let isReadable = false;
  for (const step of steps) {
    generated += step.generated;
    isReadable ||= step.isReadable;
  }
  return { generated, isReadable, isOutput: isReadable || generated !== "" };
}
