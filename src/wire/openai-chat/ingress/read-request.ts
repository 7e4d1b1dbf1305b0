import type { ChatRequest } from "../../../domain/chat-request.ts";
import { readCacheMark } from "../../cache-mark.ts";
import { readEndUser } from "../../end-user.ts";
import { createValueBudget } from "../../json/bounds.ts";
import { isSet, type JsonObject, readArray } from "../../json/read.ts";
import {
  readList,
  readNumber,
  refuse,
  refuseUntranslatable,
  requireMessages,
  SHARES,
  TEMPERATURES,
} from "../../request-body.ts";
import { readFormat } from "./read-format.ts";
import { readTurns } from "./read-messages.ts";
import { readReasoning } from "./read-reasoning.ts";
import { readTools } from "./read-tools.ts";

const COUNTS = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };

/**
 * Reads a body in no provider's words. Throws `untranslatable`, naming what no other format can say, and
 * `wrong_shape` for what cannot be read. What clients send by default and nobody misses is dropped.
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  const budget = createValueBudget(body);
  refuseWhatIsMissed(body);
  return {
    turns: readTurns(requireMessages(body), budget),
    ...readTools(body),
    reasoning: readReasoning(body),
    format: readFormat(body),
    stopSequences: readStop(body),
    temperature: readNumber(body, "temperature", TEMPERATURES),
    topP: readNumber(body, "top_p", SHARES),
    topK: readTopK(body),
    cache: readCacheMark(body),
    endUser: readEndUser(body),
  };
}

/** What the client would look for in the answer. */
function refuseWhatIsMissed(body: JsonObject): void {
  if (typeof body.n === "number" && body.n > 1) refuseUntranslatable("n");
  if (body.logprobs === true) refuseUntranslatable("logprobs");
  if (typeof body.top_logprobs === "number" && body.top_logprobs > 0) refuseUntranslatable("top_logprobs");
  if (isSet(body.audio)) refuseUntranslatable("audio");
  if (isSet(body.web_search_options)) refuseUntranslatable("web_search_options");
  if (readArray(body.plugins).length > 0) refuseUntranslatable("plugins");
  refuseFunctions(body);
}

/** Who offers functions as they were before there were tools reads no tool calls. */
function refuseFunctions(body: JsonObject): void {
  if (readList(body, "functions").length > 0) refuseUntranslatable("functions");
  const { function_call: choice } = body;
  if (isSet(choice) && choice !== "auto" && choice !== "none") refuseUntranslatable("function_call");
}

function readStop({ stop }: JsonObject): readonly string[] {
  if (!isSet(stop)) return [];
  const stops: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return stops
    .map((each) => (typeof each === "string" ? each : refuse("stop")))
    .filter((each) => each !== "");
}

/** Hosts write "all of them" as 0 or -1. */
function readTopK(body: JsonObject): number | undefined {
  const topK = readNumber(body, "top_k", COUNTS);
  if (topK !== undefined && !Number.isInteger(topK)) refuse("top_k");
  return topK !== undefined && topK > 0 ? topK : undefined;
}
