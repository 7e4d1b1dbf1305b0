import type { Part, ReasoningPart, ResultPart, TextPart } from "../../../domain/chat-request.ts";
import { readCacheMark } from "../../cache-mark.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { refuse, refuseUntranslatable } from "../../request-body.ts";
import { textOfPart } from "../content.ts";
import { readFile, readImage } from "./read-media.ts";

type PartReader<Kind> = (part: JsonObject, path: string) => Kind;

/** What a system message holds. Throws for what is no text. */
export function readSystemParts(content: unknown, path: string): readonly TextPart[] {
  return readParts(content, path, SYSTEM_READERS);
}

/** What a user says or a tool gives back: text, images and files. */
export function readMediaParts(content: unknown, path: string): readonly ResultPart[] {
  return readParts(content, path, MEDIA_READERS);
}

/** What an assistant has said, refusals and reasoning included. */
export function readAssistantParts(content: unknown, path: string): readonly (TextPart | ReasoningPart)[] {
  return readParts(content, path, ASSISTANT_READERS);
}

/** A text as a part; none when it is empty, which Anthropic would refuse. */
export function textParts(text: string): readonly TextPart[] {
  return text === "" ? [] : [{ kind: "text", text, cache: undefined }];
}

const readTextPart = (part: JsonObject, path: string): TextPart => ({
  kind: "text",
  text: typeof part.text === "string" ? part.text : refuse(`${path}.text`),
  cache: readCacheMark(part),
});

const readRefusal = (part: JsonObject, path: string): TextPart => ({
  kind: "text",
  text: typeof part.refusal === "string" ? part.refusal : refuse(`${path}.refusal`),
  cache: undefined,
});

const readThinking = (part: JsonObject): ReasoningPart => ({
  kind: "reasoning",
  text: textOfPart(part),
  signature: undefined,
  redacted: undefined,
});

const SYSTEM_READERS = new Map([["text", readTextPart]]);
const MEDIA_READERS = new Map<string, PartReader<ResultPart>>([
  ["text", readTextPart],
  ["image_url", readImage],
  ["file", readFile],
]);
const ASSISTANT_READERS = new Map<string, PartReader<TextPart | ReasoningPart>>([
  ["text", readTextPart],
  ["refusal", readRefusal],
  ["thinking", readThinking],
]);

function readParts<Kind extends Part>(
  content: unknown,
  path: string,
  readers: ReadonlyMap<string, PartReader<Kind>>,
): readonly (Kind | TextPart)[] {
  if (!isSet(content)) return [];
  if (typeof content === "string") return textParts(content);
  if (!Array.isArray(content)) refuse(path);
  return content
    .map((part: unknown, position) => readPart(part, `${path}[${position}]`, readers))
    .filter((part) => part.kind !== "text" || part.text !== "");
}

function readPart<Kind>(part: unknown, path: string, readers: ReadonlyMap<string, PartReader<Kind>>): Kind {
  if (!isJsonObject(part) || typeof part.type !== "string") refuse(path);
  const read = readers.get(part.type) ?? refuseUntranslatable(`${path}.type`);
  return read(part, path);
}
