import { editElements, editMembers, type ValueEdit } from "../../json/edit.ts";
import { ANSWER_MAX, isJsonObject, type JsonObject, parseJsonObject, readArray } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import type { Content, ReplyPart } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { faultOf } from "../chunk.ts";
import { readContent } from "../content.ts";
import { type FinishReason, readFinishReason } from "../finish-reason.ts";
import { readUsage } from "../usage.ts";

/**
 * Reads a whole chat answer. The body passes through except the model's name and finish reasons that clients
 * do not know. Throws {@link UpstreamFault} for anything else.
 *
 * @see https://platform.openai.com/docs/api-reference/chat
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  const list = readArray(body?.choices);
  if (body?.error) throw faultOf(body.error);
  if (body === undefined || list.length === 0) throw new UpstreamFault("The answer has no choices");

  const choices = list.map(readChoice);
  const edits: Record<string, ValueEdit> = { model: () => JSON.stringify(request.model) };
  let generated = "";
  let isReadable = false;
  for (const choice of choices) {
    generated += choice.generated;
    isReadable ||= choice.isReadable;
    if (choice.reason !== choice.upstreamReason) edits.choices ??= (raw) => editReasons(raw, choices);
  }
  const usage = readUsage(body.usage);
  return { text: editMembers(text, edits), isOutput: true, isReadable, generated, usage };
}

interface WholeChoice extends Content {
  readonly reason: FinishReason;
  readonly upstreamReason: unknown;
}

function readChoice(choice: unknown): WholeChoice {
  if (!isJsonObject(choice) || !isJsonObject(choice.message))
    throw new UpstreamFault("A choice has no message");
  if (choice.error) throw new UpstreamFault("A choice is an error");
  const content = readContent(choice.message);
  const reason = readFinishReason(choice.finish_reason, calledTools(choice.message));
  if (reason === undefined) throw new UpstreamFault("The answer has no finish");
  const isReadable = content.isReadable || reason === "content_filter";
  return { generated: content.generated, isReadable, reason, upstreamReason: choice.finish_reason };
}

function calledTools(message: JsonObject): boolean {
  return readArray(message.tool_calls).length > 0;
}

function editReasons(raw: string | undefined, choices: readonly WholeChoice[]): string | undefined {
  return (
    raw &&
    editElements(raw, (choice, position) =>
      editMembers(choice, { finish_reason: () => JSON.stringify(choices[position]?.reason) }),
    )
  );
}
