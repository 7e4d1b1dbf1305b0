import type { ChatRequest } from "../../../domain/chat-request.ts";
import type { RecordingContent } from "../../../recordings/recording.ts";
import { readChatRequest as readMessages } from "../../../wire/anthropic-messages/ingress/read-request.ts";
import { readChatRequest as readGemini } from "../../../wire/google-gemini/ingress/read-request.ts";
import { isJsonObject, type JsonObject } from "../../../wire/json/read.ts";
import { printRequest } from "../../../wire/openai-chat/egress/print-request.ts";
import { readChatRequest as readResponses } from "../../../wire/openai-responses/ingress/read-request.ts";

const READERS = { messages: readMessages, responses: readResponses, gemini: readGemini } as const;
const TRAITS = { reasoning: "none", sampling: true } as const;
/** What stands for an image that was not kept, where a format has an address. */
const DROPPED = /^\[image\//;

/**
 * Returns the conversation of a recorded request in the form of a chat completion. `null` for other requests, for a body
 * that was cut, and for what that form cannot express or another request holds.
 */
export function printConversation({ surface, request: { text, isCut } }: RecordingContent): string | null {
  if (isCut) return null;
  if (surface === "chat") return text;
  const read = isReadable(surface) ? READERS[surface] : undefined;
  if (!read) return null;
  try {
    const body = parse(text);
    return body && !hasEarlier(body) ? print(read(body), body) : null;
  } catch {
    // A body may be anything that some upstream takes.
    return null;
  }
}

function print(chat: ChatRequest, body: JsonObject): string {
  const { model, max_tokens, max_output_tokens, generationConfig } = body;
  const config = isJsonObject(generationConfig) ? generationConfig : {};
  const limit = [max_tokens, max_output_tokens, config.maxOutputTokens].find(
    (each) => typeof each === "number",
  );
  // A missing limit is printed as null.
  const outputTokensMax = typeof limit === "number" ? limit : Number.NaN;
  const name = typeof model === "string" ? model : "";
  const options = {
    model: name,
    outputTokensMax,
    outputLimitField: undefined,
    traits: TRAITS,
    stream: false,
  };
  return printRequest(chat, options);
}

function isReadable(surface: string): surface is keyof typeof READERS {
  return Object.hasOwn(READERS, surface);
}

/** Whether an earlier response holds the beginning of the conversation. */
function hasEarlier({ previous_response_id: previous, conversation }: JsonObject): boolean {
  return typeof previous === "string" || (conversation !== undefined && conversation !== null);
}

function parse(text: string): JsonObject | undefined {
  const value: unknown = JSON.parse(text, (name, member: unknown) =>
    name === "image_url" && typeof member === "string" && DROPPED.test(member)
      ? `data:image/png;base64,${member}`
      : member,
  );
  return isJsonObject(value) ? value : undefined;
}
