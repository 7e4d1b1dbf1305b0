import { GatewayError } from "../../errors.ts";
import { isJsonObject, type JsonObject, readText } from "../json/read.ts";
import {
  audioSize,
  documentSize,
  imageSize,
  type PartSize,
  sumOfSizes,
  TEXT_SIZE,
  UNBOUNDED_SIZE,
} from "../prompt-size.ts";
import { reject } from "../request-body.ts";
import { CONTENT, FILE, FUNCTION_RESPONSE, join, type Members, PART, readObjects } from "./names.ts";

/** Resolutions with at most the tokens of the default one. */
const RESOLUTIONS: readonly unknown[] = [
  undefined,
  "MEDIA_RESOLUTION_UNSPECIFIED",
  "MEDIA_RESOLUTION_LOW",
  "MEDIA_RESOLUTION_MEDIUM",
];

export function isDetailed({ mediaResolution }: Members<"mediaResolution">): boolean {
  const level = isJsonObject(mediaResolution) ? mediaResolution.level : mediaResolution;
  return !RESOLUTIONS.includes(level);
}

/** Returns what the media of a body add to the input beyond its text. Checks the shape of its contents. */
export function sizeOfPrompt(
  { contents, systemInstruction }: Members<"contents" | "systemInstruction">,
  isDetailed: boolean,
): PartSize {
  const list = readObjects(contents, "contents");
  if (list.length === 0) reject("contents");
  const sizes = list.map((content, position) => sizeOfContent(content, `contents[${position}]`));
  const system = isJsonObject(systemInstruction)
    ? [sizeOfContent(systemInstruction, "systemInstruction")]
    : [];
  const size = sumOfSizes([...system, ...sizes]);
  return isDetailed && size.images > 0 ? { ...size, isUnbounded: true } : size;
}

function sizeOfContent(content: JsonObject, path: string): PartSize {
  const { parts } = CONTENT.read(content, path);
  return sizeOfParts(parts, `${path}.parts`);
}

const NESTING_MAX = 2;

function sizeOfParts(parts: unknown, path: string, depth = 0): PartSize {
  if (depth > NESTING_MAX) return UNBOUNDED_SIZE;
  return sumOfSizes(
    readObjects(parts, path).map((part, position) => sizeOfPart(part, `${path}[${position}]`, depth)),
  );
}

/** Members whose tokens are all in the text of the body. */
const TEXT_MEMBERS: readonly string[] = [
  "text",
  "thought",
  "thoughtSignature",
  "functionCall",
  "executableCode",
  "codeExecutionResult",
  "videoMetadata",
  "partMetadata",
] satisfies (keyof ReturnType<(typeof PART)["read"]>)[];

/** A part of a kind that is not known has any size. */
function sizeOfPart(part: JsonObject, path: string, depth: number): PartSize {
  const members = PART.read(part, path);
  const sizes = Object.entries(members).map(([name, value]): PartSize => {
    if (value === undefined || TEXT_MEMBERS.includes(name)) return TEXT_SIZE;
    if (name === "mediaResolution") return isDetailed(members) ? UNBOUNDED_SIZE : TEXT_SIZE;
    if (!isJsonObject(value)) reject(join(path, name));
    if (name === "functionResponse") {
      const response = FUNCTION_RESPONSE.read(value, join(path, name));
      return sizeOfParts(response.parts, `${path}.functionResponse.parts`, depth + 1);
    }
    if (name === "inlineData" || name === "fileData") return sizeOfFile(value, join(path, name));
    return UNBOUNDED_SIZE;
  });
  const unknown = Object.values(part).filter((value) => typeof value === "object" && value !== null);
  const known = Object.values(members).filter((value) => typeof value === "object");
  return unknown.length > known.length ? UNBOUNDED_SIZE : sumOfSizes(sizes);
}

/** Also checks where a file is: the operator's own files may belong to another user. */
function sizeOfFile(file: JsonObject, path: string): PartSize {
  const { mimeType, data, fileUri } = FILE.read(file, path);
  if (fileUri !== undefined) rejectStored(fileUri, path);
  const type = readText(mimeType).toLowerCase();
  if (type.startsWith("text/") && typeof data === "string") return TEXT_SIZE;
  if (type.startsWith("image/")) return imageSize(readText(data).length);
  return type.startsWith("audio/") ? audioSize(data, type) : documentSize(data);
}

/**
 * Rejects files that Google stores for an account. Throws `nothing_stored` for anything but a public address.
 *
 * @see https://ai.google.dev/gemini-api/docs/files
 */
function rejectStored(fileUri: unknown, path: string): void {
  const url = URL.parse(readText(fileUri).trim());
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  const isGoogles = /(?:^|\.)(?:googleapis|cloud\.google|storage\.google)\.com\.?$/i.test(
    url?.hostname ?? "",
  );
  if (!isWeb || isGoogles) throw new GatewayError("nothing_stored", { path: join(path, "fileUri") });
}
