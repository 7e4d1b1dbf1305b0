import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import { joinPromptText } from "../../prompt-size.ts";
import { type Content, NO_CONTENT } from "../../reply-part.ts";

/** Reads a content block, whole or as it starts. What a server tool found is not generated. */
export function readBlock(block: JsonObject): Content {
  const type = readText(block.type);
  if (type === "text") return spoken(readText(block.text));
  if (type === "thinking") return { generated: readText(block.thinking), isReadable: false };
  if (type === "redacted_thinking") return NO_CONTENT;
  if (type.endsWith("_result")) return { generated: "", isReadable: true };
  const input = isJsonObject(block.input) ? joinPromptText([block.input]) : "";
  return { generated: readText(block.name) + input, isReadable: true };
}

/** Reads a `content_block_delta`'s delta. Signatures and citations are not counted. */
export function readDelta(delta: JsonObject): Content {
  if (delta.type === "text_delta") return spoken(readText(delta.text));
  if (delta.type === "input_json_delta") return spoken(readText(delta.partial_json));
  return delta.type === "thinking_delta"
    ? { generated: readText(delta.thinking), isReadable: false }
    : NO_CONTENT;
}

function spoken(text: string): Content {
  return { generated: text, isReadable: text !== "" };
}
