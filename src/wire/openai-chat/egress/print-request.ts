import type { ChatRequest, Part } from "../../../domain/chat-request.ts";
import { printCacheMark } from "../../cache-mark.ts";
import { isClaudeModel, type PrintOptions } from "../../codecs.ts";
import { printEndUser } from "../../end-user.ts";
import { createHostStateDecoder } from "../reasoning.ts";
import { printTurns } from "./print-messages.ts";
import { printEffort, printFormat, printTools } from "./print-tools.ts";

const STOPS_MAX = 4;

/**
 * Where a document stands that is neither PDF nor text, or of which only the address is known: hosts fetch no files.
 * More stop sequences than hosts take would be missed too; only messages have so many.
 */
export function findUntranslatable({ turns, stopSequences }: ChatRequest): string | undefined {
  if (stopSequences.length > STOPS_MAX) return "stop_sequences";
  for (const { parts } of turns) {
    const path = parts.map(pathOfUnknownFile).find((each) => each !== undefined);
    if (path !== undefined) return path;
  }
  return undefined;
}

/**
 * The body of a chat completion. Reasoning and `top_k` stay out of it, seals unless this host gave them, and cache marks
 * unless it is for Claude.
 */
export function printRequest(chat: ChatRequest, options: PrintOptions): string {
  const { traits, stream, origin } = options;
  const keepsCacheMarks = isClaudeModel(traits);
  return JSON.stringify({
    model: options.model,
    messages: printTurns(chat.turns, {
      keepsCacheMarks,
      open: createHostStateDecoder(origin),
      isClaude: keepsCacheMarks,
    }),
    ...printTools(chat, { keepsCacheMarks }),
    response_format: printFormat(chat.format),
    reasoning_effort: traits.reasoning === "none" ? undefined : printEffort(chat.reasoning),
    [limitFieldOf(options)]: options.outputTokensMax,
    ...(traits.sampling && { temperature: chat.temperature, top_p: chat.topP }),
    ...(keepsCacheMarks && printCacheMark(chat.cache)),
    stop: chat.stopSequences.length > 0 ? chat.stopSequences : undefined,
    user: chat.endUser === undefined ? undefined : printEndUser(chat.endUser),
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
  });
}

function limitFieldOf({ outputLimitField, traits }: PrintOptions): string {
  return outputLimitField ?? (traits.reasoning === "effort" ? "max_completion_tokens" : "max_tokens");
}

function pathOfUnknownFile(part: Part): string | undefined {
  if (part.kind === "tool_result")
    return part.parts.map(pathOfUnknownFile).find((path) => path !== undefined);
  if (part.kind !== "document" || part.source.kind === "text") return undefined;
  const isPdf = part.source.kind === "inline" && part.source.mediaType === "application/pdf";
  return isPdf ? undefined : part.path;
}
