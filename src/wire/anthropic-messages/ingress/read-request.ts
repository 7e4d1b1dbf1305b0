import type { ChatRequest } from "../../../domain/chat-request.ts";
import { isJsonObject, isSet, type JsonObject, readArray, readText } from "../../json/read.ts";
import { createValueBudget } from "../../json/value-budget.ts";
import { readList, readNumber, refuse, refuseUntranslatable, SHARES } from "../../request-body.ts";
import { isNewThread } from "../stored.ts";
import { readFormat } from "./read-format.ts";
import { readTurns } from "./read-messages.ts";
import { readReasoning } from "./read-reasoning.ts";
import { readTools } from "./read-tools.ts";

/** What a provider keeps or runs beside the conversation; no other has it. */
const REMOTE_FIELDS = ["container", "thread", "compaction"];

/**
 * Reads a body in no provider's words. Throws `untranslatable`, naming what no other format can say, or
 * `wrong_shape` for what cannot be read at all.
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  // No string of this format has JSON inside.
  createValueBudget(body);
  refuseRemote(body);
  return {
    turns: readTurns(body),
    ...readTools(body),
    reasoning: readReasoning(body),
    format: readFormat(body),
    stopSequences: readStopSequences(body),
    temperature: readNumber(body, "temperature", SHARES),
    topP: readNumber(body, "top_p", SHARES),
    topK: readNumber(body, "top_k"),
    endUser: readEndUser(body),
  };
}

function refuseRemote(body: JsonObject): void {
  const remote = REMOTE_FIELDS.find((field) => isSet(body[field]) && !isNewThread(body[field]));
  if (remote !== undefined) refuseUntranslatable(remote);
  if (readArray(body.mcp_servers).length > 0) refuseUntranslatable("mcp_servers");
  // Asks for nothing but a warm cache, which no other format can.
  if (body.max_tokens === 0) refuseUntranslatable("max_tokens");
}

function readStopSequences(body: JsonObject): readonly string[] {
  return readList(body, "stop_sequences")
    .map((sequence, position) =>
      typeof sequence === "string" ? sequence : refuse(`stop_sequences[${position}]`),
    )
    .filter((sequence) => sequence !== "");
}

function readEndUser({ metadata }: JsonObject): string | undefined {
  return (isJsonObject(metadata) && readText(metadata.user_id)) || undefined;
}
