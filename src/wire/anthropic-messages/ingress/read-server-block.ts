import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";

/** Blocks that a server's tools leave behind, and others that hold nothing for another model. */
const UNREADABLE = new Set([
  "server_tool_use",
  "mcp_tool_use",
  "mcp_tool_listing",
  "tool_search_tool_result",
  "tool_removal",
  "fallback",
]);
/** Members that hold words; what is encrypted or encoded is in others. */
const WORDS = new Set(["text", "title", "url", "source", "content", "data", "stdout", "stderr"]);

/** Whether it is a block that a server made of what its tools did or found, or that says which tools there are. */
export function isServerBlock(block: JsonObject): boolean {
  const type = readText(block.type);
  if (type === "tool_addition") return !isJsonObject(block.tool) || block.tool.type !== "tool_definition";
  return (
    UNREADABLE.has(type) || type.endsWith("_tool_result") || type === "compaction" || type === "search_result"
  );
}

/** What can be read of such a block, "" for nothing; it ends a line, so that no word runs into what is said next. */
export function readServerBlock(block: JsonObject): string {
  const type = readText(block.type);
  return UNREADABLE.has(type) || type === "tool_addition" ? "" : wordsOf(block);
}

/** All words of a block in their order, joined by line feeds. Any depth is fine. */
function wordsOf(block: JsonObject): string {
  const words: string[] = [];
  const waiting: unknown[] = [block];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string") words.push(value);
    else if (Array.isArray(value)) for (const element of value.toReversed()) waiting.push(element);
    else if (isJsonObject(value) && value.type !== "base64") {
      for (const [key, member] of Object.entries(value).toReversed())
        if (WORDS.has(key)) waiting.push(member);
    }
  }
  return words.map((word) => word && `${word}\n`).join("");
}
