import type { ChatRequest, Part } from "../../domain/chat-request.ts";
import { printEndUser } from "../end-user.ts";
import type { PrintOptions } from "../ends.ts";
import { printEffort, printFormat, printTools } from "./print-options.ts";
import { printTurns } from "./print-turns.ts";

const STOPS_MAX = 4;

/** Where a document stands that only its address is known of: hosts of chat fetch images, but no files. */
export function findUntranslatable({ turns }: ChatRequest): string | undefined {
  for (const { parts } of turns) {
    const path = parts.map(pathOfRemoteFile).find((each) => each !== undefined);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** The body of a chat completion. Seals, reasoning, cache marks and `top_k` stay out of it. */
export function printRequest(chat: ChatRequest, options: PrintOptions): string {
  const { traits, stream } = options;
  return JSON.stringify({
    model: options.model,
    messages: printTurns(chat.turns),
    ...printTools(chat),
    response_format: printFormat(chat.format),
    reasoning_effort: traits.reasoning === "none" ? undefined : printEffort(chat.reasoning),
    [limitFieldOf(options)]: options.outputTokensMax,
    ...(traits.sampling && { temperature: chat.temperature, top_p: chat.topP }),
    stop: chat.stopSequences.length > 0 ? chat.stopSequences.slice(0, STOPS_MAX) : undefined,
    user: chat.endUser === undefined ? undefined : printEndUser(chat.endUser),
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
  });
}

function limitFieldOf({ outputLimitField, traits }: PrintOptions): string {
  return outputLimitField ?? (traits.reasoning === "effort" ? "max_completion_tokens" : "max_tokens");
}

function pathOfRemoteFile(part: Part): string | undefined {
  if (part.kind === "tool_result") return part.parts.map(pathOfRemoteFile).find((path) => path !== undefined);
  return part.kind === "document" && part.source.kind === "url" ? part.path : undefined;
}
