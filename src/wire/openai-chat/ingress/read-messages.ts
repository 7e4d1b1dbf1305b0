import type { Part, ReasoningPart, ToolResultPart, Turn } from "../../../domain/chat-request.ts";
import type { ValueBudget } from "../../json/bounds.ts";
import { isSet, type JsonObject, readText } from "../../json/read.ts";
import { refuseUntranslatable } from "../../request-body.ts";
import { readPlainReasoning } from "../content.ts";
import { joinReasoningDetails } from "../reasoning-details.ts";
import { type History, readHistoryCalls } from "./read-history-calls.ts";
import { requireText } from "./read-member.ts";
import { readAssistantParts, readMediaParts, readSystemParts, textParts } from "./read-parts.ts";

/** A conversation as turns. What the tools of one assistant turn gave back becomes one turn of the user. */
export function readTurns(messages: readonly JsonObject[], budget: ValueBudget): readonly Turn[] {
  const turns: Turn[] = [];
  const answered = new Set(messages.map(({ role, tool_call_id: id }) => role === "tool" && id));
  const history: History = { answered, budget };
  /** The turn that further results go to. */
  let results: ToolResultPart[] | undefined;

  for (const [position, message] of messages.entries()) {
    const path = `messages[${position}]`;
    if (message.role === "tool") {
      if (results === undefined) {
        results = [];
        turns.push({ role: "user", parts: results });
      }
      results.push(readResult(message, path));
    } else {
      results = undefined;
      turns.push(readTurn(message, path, history));
    }
  }
  return turns;
}

function readTurn(message: JsonObject, path: string, history: History): Turn {
  const at = `${path}.content`;
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", parts: readSystemParts(message.content, at) };
    case "user":
      return { role: "user", parts: readMediaParts(message.content, at) };
    case "assistant":
      if (isSet(message.audio)) refuseUntranslatable(`${path}.audio`);
      return {
        role: "assistant",
        parts: [...readWords(message, at), ...readHistoryCalls(message, path, history)],
      };
    default:
      return refuseUntranslatable(`${path}.role`);
  }
}

function readWords(message: JsonObject, path: string): readonly Part[] {
  const words = [...readAssistantParts(message.content, path), ...textParts(readText(message.refusal))];
  return [...readReasoning(message), ...words];
}

/** Reasoning with its seals, where the client kept them. */
function readReasoning(message: JsonObject): readonly ReasoningPart[] {
  const sealed = joinReasoningDetails(message.reasoning_details);
  const text = readPlainReasoning(message);
  if (sealed.length > 0 || text === "") return sealed;
  return [{ kind: "reasoning", text, signature: undefined, redacted: undefined }];
}

function readResult(message: JsonObject, path: string): ToolResultPart {
  const callId = requireText(message, "tool_call_id", path);
  const parts = readMediaParts(message.content, `${path}.content`);
  return { kind: "tool_result", callId, parts, isError: false, cache: undefined };
}
