import { isJsonObject, type JsonObject, parseJsonObject, readText } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import { readUsage } from "../../openai-responses/usage.ts";
import type { ReplyPart } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

const PLAIN_TEXT = "text/plain; charset=utf-8";

/**
 * Reads a transcript, as JSON or as plain text. The body passes through unchanged. An empty transcript is
 * readable in JSON: the audio is silent then. Throws {@link UpstreamFault} for JSON without a text.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/json-object
 */
export function readWhole({ answersText }: RequestFacts, text: string): ReplyPart {
  if (answersText) {
    const isReadable = text !== "";
    const part = { text, isOutput: isReadable, isReadable, generated: text, usage: undefined };
    return { ...part, contentType: PLAIN_TEXT };
  }
  const body = parseJsonObject(text);
  if (!body || typeof body.text !== "string") throw new UpstreamFault("The answer is not a transcript");
  return { text, isOutput: true, isReadable: true, generated: body.text, ...readTranscriptUsage(body) };
}

/**
 * Reads the tokens of a usage, and the seconds of a usage or of the transcript itself, rounded up.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/verbose-json-object
 */
export function readTranscriptUsage({ usage, duration }: JsonObject): Pick<ReplyPart, "usage" | "units"> {
  const reported = isJsonObject(usage) ? usage.seconds : undefined;
  const seconds = reported ?? duration;
  // Some hosts print the duration as text.
  const count = readText(seconds) === "" ? seconds : Number(seconds);
  return {
    usage: readUsage(usage),
    units: typeof count === "number" ? { count: Math.ceil(count) } : undefined,
  };
}
