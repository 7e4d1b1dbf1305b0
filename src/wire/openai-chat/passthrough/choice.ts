import { editElements, editMembers, type ValueEdit } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import { type Content, NO_CONTENT } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import {
  createCallFinder,
  type FinishReason,
  generateCallId,
  readContent,
  readFinishReason,
} from "../chunk.ts";

/** The content of one choice in one chunk. */
export interface ChoiceStep extends Content {
  /** The edits of the choice's text; `undefined` if the text passes unchanged. */
  readonly edits: Readonly<Record<string, ValueEdit>> | undefined;
}

type Edits = Record<string, ValueEdit>;

/** Reads one choice of a streamed answer. Its first delta gets a role, and its finish reason is sent once. */
export class ChoiceReader {
  isFinished = false;
  /** Created with the first tool call: most streams have none. */
  #toolCalls: ReturnType<typeof createToolCallReader> | undefined;
  #isFirst = true;

  /** Reads the choice of one chunk. Throws {@link UpstreamFault} for an unknown finish reason. */
  read(choice: JsonObject, idPrefix: string): ChoiceStep {
    const delta = isJsonObject(choice.delta) ? choice.delta : undefined;
    const deltaEdits = this.#editsOfDelta(delta ?? {}, idPrefix);
    const content = delta ? readContent(delta) : NO_CONTENT;
    const reason = readFinishReason(choice.finish_reason, this.#toolCalls?.hasCalls() ?? false);
    const editFinish = this.#editOfFinish(choice.finish_reason, reason);

    const edits: Edits = {};
    if (delta === undefined || hasKeys(deltaEdits)) {
      edits.delta = (text) => editMembers(delta && text ? text : "{}", deltaEdits);
    }
    if (editFinish) edits.finish_reason = editFinish;
    if (choice.index === undefined) edits.index = () => "0";
    return {
      generated: content.generated,
      isReadable: content.isReadable || reason === "content_filter",
      audioBytes: content.audioBytes,
      edits: hasKeys(edits) ? edits : undefined,
    };
  }

  #editsOfDelta(delta: JsonObject, idPrefix: string): Edits {
    const edits: Edits = {};
    if (this.#isFirst && readText(delta.role) === "") edits.role = () => '"assistant"';
    if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) {
      this.#toolCalls ??= createToolCallReader();
      const editCalls = this.#toolCalls.read(delta.tool_calls, idPrefix);
      if (editCalls) edits.tool_calls = editCalls;
    }
    this.#isFirst = false;
    return edits;
  }

  /** Returns the edit of `finish_reason`: a known reason once, else null, for which some hosts send "". */
  #editOfFinish(value: unknown, reason: FinishReason | undefined): ValueEdit | undefined {
    const sent = this.isFinished ? undefined : reason;
    this.isFinished ||= reason !== undefined;
    if (sent !== undefined) return sent === value ? undefined : () => JSON.stringify(sent);
    return value === null || value === undefined ? undefined : () => "null";
  }
}

function hasKeys(record: Edits): boolean {
  for (const _ in record) return true;
  return false;
}

type CallEdits = Readonly<Record<string, ValueEdit>>;

/**
 * Reads the tool calls of one choice and adds what clients require. Indexes start at 0 without gaps. The
 * first fragment of each call gets an id, a type and a text of arguments.
 */
function createToolCallReader() {
  const calls = createCallFinder();

  return {
    hasCalls: () => calls.count() > 0,

    /** Returns an edit of the text of `tool_calls`; `undefined` if it passes unchanged. */
    read(deltas: readonly unknown[], idPrefix: string): ValueEdit | undefined {
      const edits = deltas.map((delta): CallEdits => {
        if (!isJsonObject(delta)) throw new UpstreamFault("A tool call is not an object");
        const { index, isFirstFragment } = calls.find(delta);
        const indexEdits = delta.index === index ? {} : { index: () => String(index) };
        const firstEdits = isFirstFragment ? completeFirst(delta, generateCallId(idPrefix, index)) : {};
        return { ...indexEdits, ...firstEdits, ...completeArguments(delta, isFirstFragment) };
      });
      if (edits.every((each) => Object.keys(each).length === 0)) return undefined;
      return (text) =>
        text && editElements(text, (call, position) => editMembers(call, edits[position] ?? {}));
    },
  };
}

function completeFirst(delta: JsonObject, generatedId: string): CallEdits {
  const type = isJsonObject(delta.custom) ? "custom" : "function";
  return {
    ...(readText(delta.id) === "" && { id: () => JSON.stringify(generatedId) }),
    ...(readText(delta.type) === "" && { type: () => JSON.stringify(type) }),
  };
}

function completeArguments(delta: JsonObject, isFirst: boolean): CallEdits {
  if (isJsonObject(delta.custom)) return {};
  const input = isJsonObject(delta.function) ? delta.function.arguments : undefined;
  if (typeof input === "string" || (input === undefined && !isFirst)) return {};
  return {
    function: (text) =>
      editMembers(isJsonObject(delta.function) && text ? text : "{}", { arguments: asText }),
  };
}

/** Arguments are a text of JSON; some hosts send the JSON itself. */
function asText(value: string | undefined): string {
  return value === undefined || value === "null" ? '""' : JSON.stringify(value);
}
