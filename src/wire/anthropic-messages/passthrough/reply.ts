import { editMembers } from "../../json/edit.ts";
import { isJsonObject, type JsonObject, readText } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import { joinPromptText } from "../../prompt-size.ts";
import { type Content, NO_CONTENT, type ReplyPart } from "../../reply-part.ts";
import { isRefusal, parseMessage } from "../finish-reason.ts";
import { readUsage } from "../usage.ts";

/**
 * Reads a whole message. Replaces the model name in the body and keeps every other byte, thinking and
 * signatures included. Throws `UpstreamFault` for anything but a complete message.
 *
 * @see https://docs.anthropic.com/en/api/messages
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
  const { body, blocks, stopReason } = parseMessage(text);
  const contents = blocks.map(readBlock);
  return {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    // A request with an output limit of 0 only fills the cache, and its answer is an empty message.
    isReadable:
      request.outputTokensMax === 0 || isRefusal(stopReason) || contents.some(({ isReadable }) => isReadable),
    generated: contents.map((content) => content.generated).join(""),
    usage: isJsonObject(body.usage) ? readUsage(body.usage) : undefined,
  };
}

/** Reads a content block, whole or as it starts. Results of server tools do not count as generated. */
export function readBlock(block: JsonObject): Content {
  const type = readText(block.type);
  if (type === "text") return readableText(readText(block.text));
  if (type === "thinking") return { generated: readText(block.thinking), isReadable: false };
  if (type === "redacted_thinking") return NO_CONTENT;
  if (type.endsWith("_result")) return { generated: "", isReadable: true };
  const input = isJsonObject(block.input) ? joinPromptText([block.input]) : "";
  return { generated: readText(block.name) + input, isReadable: true };
}

/** Reads the `delta` of a `content_block_delta` event. Signatures and citations do not count as generated. */
export function readDelta(delta: JsonObject): Content {
  if (delta.type === "text_delta") return readableText(readText(delta.text));
  if (delta.type === "input_json_delta") return readableText(readText(delta.partial_json));
  return delta.type === "thinking_delta"
    ? { generated: readText(delta.thinking), isReadable: false }
    : NO_CONTENT;
}

function readableText(text: string): Content {
  return { generated: text, isReadable: text !== "" };
}
