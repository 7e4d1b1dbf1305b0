import { editMembers } from "../../json/edit.ts";
import {
  ANSWER_MAX,
  isJsonObject,
  type JsonObject,
  parseJsonObject,
  readArray,
  readText,
} from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import type { Content, ReplyPart } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";
import { isFiltered, requireFinished } from "../finish-reason.ts";
import { readUsage } from "../usage.ts";

/**
 * Reads a whole response. Replaces the model name in the body and keeps every other byte. Throws
 * {@link UpstreamFault} for anything but a finished response.
 *
 * @see https://platform.openai.com/docs/api-reference/responses
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined || !Array.isArray(body.output)) throw new UpstreamFault("The answer is no response");
  requireFinished(body);
  const { generated, isReadable } = readOutput(body.output);
  return {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    isReadable: isReadable || isFiltered(body),
    generated,
    usage: readUsage(body.usage),
  };
}

/** Reads the `output` list of a response. */
export function readOutput(output: unknown): Content {
  const items = readArray(output).filter(isJsonObject).map(readItem);
  return {
    generated: items.map((item) => item.generated).join(""),
    isReadable: items.some((item) => item.isReadable),
  };
}

/** Reads a whole item. */
export function readItem(item: JsonObject): Content {
  if (item.type === "reasoning") {
    return { generated: readParts(item.content) || readParts(item.summary), isReadable: false };
  }
  if (item.type === "message") {
    const text = readParts(item.content);
    return { generated: text, isReadable: text !== "" };
  }
  return { generated: nameOf(item) + readText(item.arguments) + readText(item.input), isReadable: true };
}

/** Returns the name of the tool that an item calls, or "" for any other item. */
export function nameOf(item: JsonObject): string {
  return isCall(item) ? readText(item.name) : "";
}

/** Whether an item is a tool call: every item that is neither a message nor reasoning. */
export function isCall({ type }: JsonObject): boolean {
  return type !== "message" && type !== "reasoning";
}

function readParts(parts: unknown): string {
  return readArray(parts)
    .map((part) => (isJsonObject(part) ? readText(part.text) + readText(part.refusal) : ""))
    .join("");
}
