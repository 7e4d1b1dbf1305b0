import { editMembers, type ValueEdit } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import { type Content, NO_CONTENT } from "../../reply-part.ts";
import { readContent } from "../content.ts";
import { type FinishReason, readFinishReason } from "../finish-reason.ts";
import { createToolCallReader } from "./tool-calls.ts";

/** What one chunk says of one choice. */
export interface ChoiceStep extends Content {
  /** What must change in the choice's text, `undefined` when all of it may stay. */
  readonly edits: Readonly<Record<string, ValueEdit>> | undefined;
}

type Edits = Record<string, ValueEdit>;

/** Follows one choice of a streamed answer. Its first delta carries the role, and it finishes once. */
export function createChoiceReader() {
  const toolCalls = createToolCallReader();
  let isFirst = true;
  let isFinished = false;

  const editsOfDelta = (delta: JsonObject, place: string): Edits => {
    const edits: Edits = {};
    if (isFirst && readText(delta.role) === "") edits.role = () => '"assistant"';
    if (Array.isArray(delta.tool_calls) && delta.tool_calls.length > 0) {
      const editCalls = toolCalls.read(delta.tool_calls, place);
      if (editCalls) edits.tool_calls = editCalls;
    }
    isFirst = false;
    return edits;
  };

  /** A finish is said once, in a word that clients know; "" is how some hosts say null. */
  const editOfFinish = (said: unknown, reason: FinishReason | undefined): ValueEdit | undefined => {
    const shown = isFinished ? undefined : reason;
    isFinished ||= reason !== undefined;
    if (shown !== undefined) return shown === said ? undefined : () => JSON.stringify(shown);
    return said === null || said === undefined ? undefined : () => "null";
  };

  return {
    isFinished: () => isFinished,

    /** Reads the choice of one chunk. Throws UpstreamFault for a finish that is none. */
    read(choice: JsonObject, place: string): ChoiceStep {
      const delta = isJsonObject(choice.delta) ? choice.delta : undefined;
      const deltaEdits = editsOfDelta(delta ?? {}, place);
      const content = delta ? readContent(delta) : NO_CONTENT;
      const reason = readFinishReason(choice.finish_reason, toolCalls.hasCalls());
      const editFinish = editOfFinish(choice.finish_reason, reason);

      const edits: Edits = {};
      if (delta === undefined || hasKeys(deltaEdits)) {
        edits.delta = (text) => editMembers(delta && text ? text : "{}", deltaEdits);
      }
      if (editFinish) edits.finish_reason = editFinish;
      if (choice.index === undefined) edits.index = () => "0";
      return {
        generated: content.generated,
        isReadable: content.isReadable || reason === "content_filter",
        edits: hasKeys(edits) ? edits : undefined,
      };
    },
  };
}

function hasKeys(record: Edits): boolean {
  for (const _ in record) return true;
  return false;
}
