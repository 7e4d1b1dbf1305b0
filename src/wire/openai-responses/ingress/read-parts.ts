import type { ResultPart, TextPart } from "../../../domain/chat-request.ts";
import { isJsonObject, type JsonObject } from "../../json/read.ts";
import { reject, rejectUntranslatable, requireText } from "../../request-body.ts";
import { readFile, readImage } from "./read-media.ts";

const TEXTS: readonly unknown[] = ["input_text", "output_text", "text", "summary_text"];

export function textPart(text: string): TextPart {
  return { kind: "text", text, cache: undefined };
}

/** A text, or a list of texts, images and files. Throws `untranslatable` for all else, `wrong_shape` for what is nothing. */
export function readParts(content: unknown, path: string): readonly ResultPart[] {
  return readEach(content, path, readPart);
}

/** The same where nothing but text may be. */
export function readTexts(content: unknown, path: string): readonly TextPart[] {
  return readEach(content, path, readTextPart);
}

function readEach<Result>(
  content: unknown,
  path: string,
  read: (part: JsonObject, path: string) => Result,
): readonly (Result | TextPart)[] {
  if (typeof content === "string") return [textPart(content)];
  if (!Array.isArray(content)) reject(path);
  return content.map((part: unknown, position) => {
    const place = `${path}[${position}]`;
    if (!isJsonObject(part)) reject(place);
    return read(part, place);
  });
}

function readPart(part: JsonObject, path: string): ResultPart {
  if (part.type === "input_image") return readImage(part, path);
  return part.type === "input_file" ? readFile(part, path) : readTextPart(part, path);
}

function readTextPart({ type, text, refusal }: JsonObject, path: string): TextPart {
  if (type === "refusal") return textPart(requireText(refusal, `${path}.refusal`));
  if (typeof type !== "string") reject(`${path}.type`);
  if (!TEXTS.includes(type)) rejectUntranslatable(path);
  return textPart(requireText(text, `${path}.text`));
}
