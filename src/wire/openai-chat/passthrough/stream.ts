import { editElements, editMembers, findMember, type Path, type ValueEdit } from "../../json/edit.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import type { RequestHead } from "../../model-request.ts";
import { readUsage, usageOfChunk } from "../../openai-usage.ts";
import { createRepeatedEvents } from "../../repeated-events.ts";
import { type RepeatedPart, type ReplyPart, type ReplyReader, SILENT } from "../../reply-part.ts";
import { printSse, type SseEvent } from "../../sse.ts";
import { readServed, withServed } from "../../tiers.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { callIdPrefixOf, END_MARK, parseChunk, readIndex, rejectSurplus, requireChoice } from "../chunk.ts";
import { ChoiceReader, type ChoiceStep } from "./choice.ts";

/**
 * Reads a streamed chat answer. Chunks pass through except the model's name, usage that the client did not
 * request, and members that break clients. Holds back the chunk that finishes the last open choice, and
 * everything after it.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
export function readStream(request: RequestHead): ReplyReader {
  return new StreamReader(request);
}

/** A class, because closures for each stream cost more memory. */
class StreamReader implements ReplyReader {
  readonly #request: RequestHead;
  readonly #modelText: string;
  readonly #choices: Choices;
  readonly #rename: ModelRename;
  readonly #repeated = createRepeatedEvents();
  #held = "";
  #usageChunk: UsageChunk | undefined;
  #tierName: unknown;
  #isDone = false;

  constructor(request: RequestHead) {
    this.#request = request;
    this.#modelText = JSON.stringify(request.model);
    this.#choices = new Choices(request.choices);
    this.#rename = new ModelRename(this.#modelText);
  }

  get finished(): boolean {
    return this.#choices.areAllFinished() && (this.#isDone || this.#choices.haveAllBegun());
  }

  get done(): boolean {
    return this.#isDone;
  }

  readRepeated(text: string, start: number): RepeatedPart | undefined {
    return this.#repeated.read(text, start);
  }

  read(event: SseEvent): ReplyPart {
    this.#repeated.forget();
    if (this.#isDone) return SILENT;
    if (event.data.startsWith(END_MARK)) {
      this.#isDone = true;
      if (!this.finished) throw new UpstreamFault("The answer ended without a finish");
      return SILENT;
    }
    const chunk = parseChunk(event);
    if (chunk) return this.#withTier(this.#readChunk(chunk, event), chunk.service_tier);
    // Invalid JSON after the finish does not invalidate a complete answer.
    if (this.finished) return SILENT;
    throw new UpstreamFault("A chunk is not JSON");
  }

  /** Adds the tier of a chunk, unless the one before had it too. */
  #withTier(part: ReplyPart, name: unknown): ReplyPart {
    if (name === this.#tierName) return part;
    this.#tierName = name;
    return withServed(part, readServed(name), this.#request);
  }

  ending(): string {
    if (!this.finished) throw new Error("There is no ending before the finish");
    const usage =
      this.#request.wantsUsage && this.#usageChunk ? printUsageChunk(this.#usageChunk, this.#modelText) : "";
    return `${this.#held}${usage}data: ${END_MARK}\n\n`;
  }

  #readChunk(chunk: JsonObject, event: SseEvent): ReplyPart {
    const { data } = event;
    const reported = usageOfChunk(chunk);
    const usage = readUsage(reported);
    const hasUsage = isJsonObject(chunk.usage);
    if (isJsonObject(reported)) this.#usageChunk = { data, reported };
    const list = readArray(chunk.choices);
    // The finish is sent last, so output after it would reach the client in the wrong order.
    if (this.finished) return { ...SILENT, usage };
    rejectSurplus(list);
    if (list.length === 0 && (hasUsage || !Array.isArray(chunk.choices))) return { ...SILENT, usage };

    const steps = this.#choices.read(list, chunk);
    const edited = editChunk(chunk, data, steps);
    const frame = { data: chunk.model === this.#request.model ? edited : this.#rename.edit(edited) };
    const text = printSse(frame);
    if (this.finished) {
      this.#held = text;
      return { ...sumOfSteps(steps), text: "", usage };
    }
    const part = { ...sumOfSteps(steps), text, usage };
    if (isRepeatable(chunk, steps)) this.#repeated.learn({ event, part, frame, paths: pathsOf(chunk, part) });
    return part;
  }
}

/** Reads the requested number of choices of one answer. */
class Choices {
  readonly #requested: number;
  readonly #readers = new Map<number, ChoiceReader>();
  #open = 0;
  #isBroken = false;

  constructor(requested: number) {
    this.#requested = requested;
  }

  haveAllBegun(): boolean {
    return this.#readers.size >= this.#requested;
  }

  /** Returns whether at least one choice has begun and all that have begun are finished. */
  areAllFinished(): boolean {
    return !this.#isBroken && this.#open === 0 && this.#readers.size > 0;
  }

  /** Reads the choices of one chunk. If one throws, no choice counts as finished: the chunk is not sent. */
  read(list: readonly unknown[], chunk: JsonObject): readonly ChoiceStep[] {
    this.#isBroken = true;
    const steps = list.map((element) => this.#readOne(element, chunk));
    this.#isBroken = false;
    return steps;
  }

  #readOne(element: unknown, chunk: JsonObject): ChoiceStep {
    const choice = requireChoice(element);
    const index = readIndex(choice, this.#requested);
    const reader = this.#readers.get(index) ?? this.#begin(index);
    const wasFinished = reader.isFinished;
    const step = reader.read(choice, callIdPrefixOf(chunk, index));
    if (!wasFinished && reader.isFinished) this.#open -= 1;
    return step;
  }

  #begin(index: number): ChoiceReader {
    const reader = new ChoiceReader();
    this.#readers.set(index, reader);
    this.#open += 1;
    return reader;
  }
}

/** Number of chunks whose beginning is learned before later chunks are edited one by one. */
const LEARNED_HEADS_MAX = 4;

/**
 * Replaces the model's name in every chunk of one stream. Most chunks begin alike up to the model's name, so
 * the renamed beginning is kept and compared. Later chunks are not scanned.
 */
class ModelRename {
  readonly #modelText: string;
  #head: string | undefined;
  #renamedHead = "";
  #learned = 0;

  constructor(modelText: string) {
    this.#modelText = modelText;
  }

  edit(data: string): string {
    if (this.#head !== undefined && data.startsWith(this.#head))
      return this.#renamedHead + data.slice(this.#head.length);
    if (this.#learned < LEARNED_HEADS_MAX) this.#learn(data);
    return editMembers(data, { model: () => this.#modelText });
  }

  #learn(data: string): void {
    this.#learned += 1;
    const name = findMember(data, "model");
    if (name === undefined) return;
    this.#head = data.slice(0, name.end);
    this.#renamedHead = data.slice(0, name.start) + this.#modelText;
  }
}

/** Returns whether reading such a chunk again returns the same: it has no usage, no edits and no finish. */
function isRepeatable(chunk: JsonObject, [step, ...others]: readonly ChoiceStep[]): boolean {
  const [choice] = readArray(chunk.choices);
  const isPlain = isJsonObject(choice) && !isSet(choice.finish_reason) && !isJsonObject(usageOfChunk(chunk));
  const isText = step?.edits === undefined && step?.audioBytes === undefined;
  return isPlain && isText && others.length === 0;
}

const TEXTS = ["content", "reasoning_content", "reasoning", "refusal"];

/**
 * Returns the path of the generated text of a chunk with one choice, and that of the padding that some hosts
 * add against guesses of a text's length. Returns no path if no string of the chunk is the whole text.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming `obfuscation`
 */
function pathsOf(chunk: JsonObject, { generated }: ReplyPart): readonly Path[] {
  const [choice] = readArray(chunk.choices);
  const delta = isJsonObject(choice) && isJsonObject(choice.delta) ? choice.delta : {};
  const field = TEXTS.find((name) => delta[name] === generated);
  const path: Path = field === undefined ? ["tool_calls", 0, "function", "arguments"] : [field];
  if (field === undefined && argumentsOf(delta) !== generated) return [];
  const padding: readonly Path[] = readText(chunk.obfuscation) === "" ? [] : [["obfuscation"]];
  return [["choices", 0, "delta", ...path], ...padding];
}

function argumentsOf(delta: JsonObject): unknown {
  const [call] = readArray(delta.tool_calls);
  return isJsonObject(call) && isJsonObject(call.function) ? call.function.arguments : undefined;
}

/** The latest chunk with a usage. */
interface UsageChunk {
  readonly data: string;
  readonly reported: JsonObject;
}

/** Prints the chunk that the usage arrived on with an empty list of choices. */
function printUsageChunk({ data, reported }: UsageChunk, modelText: string): string {
  const usage: ValueEdit = (text) =>
    text === undefined || text === "null" ? JSON.stringify(reported) : text;
  return printSse({ data: editMembers(data, { model: () => modelText, choices: () => "[]", usage }) });
}

/** Removes the usage and normalises the choices. Most chunks need neither. */
function editChunk(chunk: JsonObject, data: string, steps: readonly ChoiceStep[]): string {
  const hasUsage = chunk.usage !== undefined && chunk.usage !== null;
  const hasEdits = steps.some((step) => step.edits !== undefined);
  if (!hasUsage && !hasEdits) return data;
  return editMembers(data, {
    ...(hasUsage && { usage: () => "null" }),
    ...(hasEdits && { choices: (text) => text && editChoices(text, steps) }),
  });
}

function editChoices(text: string, steps: readonly ChoiceStep[]): string {
  return editElements(text, (choice, position) => editMembers(choice, steps[position]?.edits ?? {}));
}

function sumOfSteps(steps: readonly ChoiceStep[]): Omit<ReplyPart, "text" | "usage"> {
  let generated = "";
  let isReadable = false;
  let audioBytes = 0;
  for (const step of steps) {
    generated += step.generated;
    isReadable ||= step.isReadable;
    audioBytes += step.audioBytes ?? 0;
  }
  const sum = { generated, isReadable, isOutput: isReadable || generated !== "" };
  return audioBytes > 0 ? { ...sum, audioBytes } : sum;
}
