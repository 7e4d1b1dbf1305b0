import { chatLines, chatWhole } from "./chat-speech.ts";
import { messagesLines, messagesWhole } from "./messages-speech.ts";
import { responsesLines, responsesWhole } from "./responses-speech.ts";
import { type Answer, answer, type Script, type ScriptRequest } from "./script.ts";
import { HELLO, type Speech } from "./speech.ts";

/** Answers as the provider whose path was called would, whole or streamed as asked. */
export function says(speech: Speech = HELLO, how: Omit<Answer, "body"> = {}): Script {
  return (request) => answer({ ...how, ...bodyFor(request, speech, how) })(request);
}

/** The lines of a streamed answer, each a JSON text. */
export function streamedLines(request: ScriptRequest, speech: Speech): string[] {
  if (isOnResponses(request)) return responsesLines(speech);
  return request.protocol === "openai" ? chatLines(request, speech) : messagesLines(speech);
}

/** Frames JSON lines as server-sent events the way the provider does. */
export function frame(protocol: "openai" | "anthropic", lines: readonly string[]): string {
  if (protocol === "openai") return `${lines.map((line) => `data: ${line}\n\n`).join("")}data: [DONE]\n\n`;
  return lines.map((line) => `event: ${typeOf(line)}\ndata: ${line}\n\n`).join("");
}

export const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8" };

function bodyFor(request: ScriptRequest, speech: Speech, how: Omit<Answer, "body">) {
  if (request.stream) {
    const protocol = isOnResponses(request) ? "anthropic" : request.protocol;
    const body = frame(protocol, streamedLines(request, speech));
    return { headers: { ...EVENT_STREAM, ...how.headers }, body };
  }
  return { body: JSON.stringify(wholeFor(request, speech)) };
}

function wholeFor(request: ScriptRequest, speech: Speech): object {
  if (isOnResponses(request)) return responsesWhole(speech);
  return request.protocol === "openai" ? chatWhole(speech) : messagesWhole(speech);
}

/** OpenAI frames the events of its responses as Anthropic does its own. */
function isOnResponses({ target }: ScriptRequest): boolean {
  return target.endsWith("/responses");
}

function typeOf(line: string): string {
  const value: unknown = JSON.parse(line);
  return typeof value === "object" && value !== null && "type" in value ? String(value.type) : "";
}
