import { isJsonObject } from "./json/read.ts";

/** What frames a prompt, or says of it what is not read as words. */
const UNREAD = new Set([
  "cache_control",
  "data",
  "encrypted_content",
  "file_data",
  "image_url",
  "role",
  "signature",
  "thought_signature",
  "type",
]);
const FRAMING = new Set(["content", "text", "id", "tool_call_id", "tool_use_id", "function"]);

/**
 * Everything of a prompt that a model reads as text, media left out, joined by line feeds: all strings and
 * the names of members that are the client's own (tool schemas, tool inputs). Any depth is fine.
 */
export function joinPromptText(values: readonly unknown[]): string {
  const words: string[] = [];
  const waiting: unknown[] = values.toReversed();
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") words.push(value);
    else if (typeof value === "number") words.push(String(value));
    else if (Array.isArray(value)) for (const element of value.toReversed()) waiting.push(element);
    else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value).toReversed()) {
        if (UNREAD.has(key)) continue;
        waiting.push(member);
        if (!FRAMING.has(key)) waiting.push(key);
      }
    }
  }
  return words.join("\n");
}
