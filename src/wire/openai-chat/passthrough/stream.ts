import { editElements, editMembers, type ValueEdit } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readArray } from "../../json/read.ts";
import { type ReplyPart, type ReplyReader, type RequestFacts, UpstreamFault } from "../../protocol.ts";
import { SILENT } from "../../reply-part.ts";
import { printSse } from "../../sse.ts";
import { CHOICES_MAX, END_MARK, parseChunk, placeOf, readIndex, requireChoice } from "../chunk.ts";
import { readUsage, usageOfChunk } from "../usage.ts";
import { type ChoiceStep, createChoiceReader } from "./choice.ts";
import { createModelRename } from "./model-name.ts";

/**
 * Reads a streamed chat answer. Chunks pass as they are but for the model's name, usage that was not
 * asked for, and what clients would break on. Keeps back what comes after the last open choice finished.
 */
export function readStream(request: RequestFacts): ReplyReader {
  const choices = createChoices(request.choices);
  const modelText = JSON.stringify(request.model);
  const rename = createModelRename(modelText);
  let held = "";
  let usageChunk: { readonly data: string; readonly reported: JsonObject } | undefined;
  let isDone = false;

  const isFinished = () => choices.areAtRest() && (isDone || choices.haveAllBegun());

  /** Passes a chunk on, or keeps it back when it is the finish. */
  const pass = (data: string): string => {
    const frame = printSse({ data });
    if (!isFinished()) return frame;
    held = frame;
    return "";
  };

  const readChunk = (chunk: JsonObject, data: string): ReplyPart => {
    const reported = usageOfChunk(chunk);
    const usage = readUsage(reported);
    const hasUsage = isJsonObject(chunk.usage);
    if (isJsonObject(reported)) usageChunk = { data, reported };
    const list = readArray(chunk.choices);
    // What a host still says behind its finish would come to the client before that.
    if (isFinished()) return { ...SILENT, usage };
    if (list.length > CHOICES_MAX) throw new UpstreamFault("There are too many choices");
    if (list.length === 0 && (hasUsage || !Array.isArray(chunk.choices))) return { ...SILENT, usage };

    const steps = choices.read(list, chunk);
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
      const usage =
        request.wantsUsage && usageChunk
          ? printUsageChunk(usageChunk.data, usageChunk.reported, modelText)
          : "";
      return `${held}${usage}data: ${END_MARK}\n\n`;
    },
  };
}

/** Follows so many choices of one answer. */
function createChoices(asked: number) {
  const readers = new Map<number, ReturnType<typeof createChoiceReader>>();
  let open = 0;
  let isBroken = false;

  const begin = (index: number) => {
    const reader = createChoiceReader();
    readers.set(index, reader);
    open += 1;
    return reader;
  };

  const readOne = (element: unknown, chunk: JsonObject): ChoiceStep => {
    const choice = requireChoice(element);
    const index = readIndex(choice, asked);
    const reader = readers.get(index) ?? begin(index);
    const wasFinished = reader.isFinished();
    const step = reader.read(choice, placeOf(chunk, index));
    if (!wasFinished && reader.isFinished()) open -= 1;
    return step;
  };

  return {
    haveAllBegun: () => readers.size >= asked,
    /** Whether those that have begun are finished. */
    areAtRest: () => !isBroken && open === 0 && readers.size > 0,
    /** Those of one chunk. What finished within a chunk that breaks has not: the client is never told of it. */
    read(list: readonly unknown[], chunk: JsonObject): readonly ChoiceStep[] {
      isBroken = true;
      const steps = list.map((element) => readOne(element, chunk));
      isBroken = false;
      return steps;
    },
  };
}

/** Whatever chunk the usage came on, it goes out on one without choices. */
function printUsageChunk(data: string, reported: JsonObject, modelText: string): string {
  const usage: ValueEdit = (text) =>
    text === undefined || text === "null" ? JSON.stringify(reported) : text;
  return printSse({ data: editMembers(data, { model: () => modelText, choices: () => "[]", usage }) });
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
