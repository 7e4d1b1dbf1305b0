import { GatewayError } from "../../errors.ts";
import { type Edits, editMembers, type ValueEdit } from "../json/edit.ts";
import { isJsonObject, type JsonObject, readText } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import {
  imageSize,
  inputSizeOf,
  type PartSize,
  promptTextOf,
  sumOfSizes,
  TEXT_SIZE,
  UNBOUNDED_SIZE,
} from "../prompt-size.ts";
import { CHOICES_MAX } from "../reply-part.ts";
import { parseBody, readBudget, readFlag, reject, requireModel } from "../request-body.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { dropForeignSignatures } from "./carried-reasoning.ts";
import { readChatRequest } from "./ingress/read-request.ts";
import {
  CONTENT,
  FILE,
  FUNCTION_RESPONSE,
  GENERATION,
  join,
  type Members,
  PART,
  REQUEST,
  readInteger,
  readMember,
  readObjects,
} from "./names.ts";
import { rejectUnpriced } from "./unpriced.ts";

const UNPRICED_RULE = createUnpricedRule(new Set());
const FIELDS = new Set(["model", "stream", ...UNPRICED_RULE.names]);

/**
 * Parses and checks a body to which the route has added `model` and `stream`, which Google has in the path. Unknown
 * members are left to the upstream. Throws `not_json`, `wrong_shape` (also for repeated keys), `unpriced_field` and
 * `nothing_stored`.
 *
 * @see https://ai.google.dev/api/generate-content#request-body
 */
export function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys, reread } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  const stream = readFlag(body, "stream");
  if (repeatsKeys) throw new GatewayError("wrong_shape");
  UNPRICED_RULE.reject(body, repeatsKeys);
  const members = REQUEST.read(body, "");
  rejectUnpriced(members, body);
  const limits = readLimits(members.generationConfig, REQUEST.spellingOf(body, "generationConfig"));
  return {
    text,
    model,
    stream,
    outputTokensMax: limits.outputTokensMax,
    outputLimitField: undefined,
    thinkingTokens: limits.thinkingTokens,
    choices: limits.choices,
    wantsUsage: true,
    input: inputSizeOf(text, sizeOfPrompt(members, limits.isDetailed), false),
    promptText: () => promptTextOf(reread(), PROMPT),
    readChat: () => readChatRequest(reread()),
  };
}

/** The members with a prompt, in both spellings. */
const PROMPT = ["systemInstruction", "system_instruction", "contents", "tools"];

interface Limits {
  readonly outputTokensMax: number | undefined;
  readonly thinkingTokens: number;
  readonly choices: number;
  /** Whether images may become more tokens than they do by default. */
  readonly isDetailed: boolean;
}

/** A limit of 0 is Google's default. A budget at or above the limit is not reserved: Google accepts it. */
function readLimits(generationConfig: unknown, path: string): Limits {
  const config = GENERATION.read(readMember(generationConfig, path) ?? {}, path);
  const limit = readInteger(config.maxOutputTokens, join(path, "maxOutputTokens")) ?? 0;
  const choices = readInteger(config.candidateCount, join(path, "candidateCount")) || 1;
  if (limit < 0) reject(join(path, "maxOutputTokens"));
  if (choices < 0 || choices > CHOICES_MAX) reject(join(path, "candidateCount"));
  const outputTokensMax = limit || undefined;
  const thinking = readMember(config.thinkingConfig, join(path, "thinkingConfig")) ?? {};
  const budget = readBudget(thinking.thinkingBudget ?? thinking.thinking_budget);
  const isReserved = outputTokensMax === undefined || budget < outputTokensMax;
  return {
    outputTokensMax,
    thinkingTokens: isReserved ? budget : 0,
    choices,
    isDetailed: isDetailed(config),
  };
}

/** Resolutions with at most the tokens of the default one. */
const RESOLUTIONS: readonly unknown[] = [
  undefined,
  "MEDIA_RESOLUTION_UNSPECIFIED",
  "MEDIA_RESOLUTION_LOW",
  "MEDIA_RESOLUTION_MEDIUM",
];

function isDetailed({ mediaResolution }: Members<"mediaResolution">): boolean {
  const level = isJsonObject(mediaResolution) ? mediaResolution.level : mediaResolution;
  return !RESOLUTIONS.includes(level);
}

/**
 * Prints the body for an upstream of this format: without model and stream, which its path has, and with the output
 * limit. Drops signatures of other providers' reasoning. Keeps every other byte.
 */
export function printUpstreamRequest({ text }: ModelRequest, options: UpstreamRequestOptions): string {
  const limit = String(options.outputTokensMax);
  return editMembers(text, {
    model: () => undefined,
    stream: () => undefined,
    contents: (value) => value && dropForeignSignatures(value),
    ...editEither(["generationConfig", "generation_config"], (config) =>
      editMembers(
        config?.startsWith("{") ? config : "{}",
        editEither(["maxOutputTokens", "max_output_tokens"], () => limit),
      ),
    ),
  });
}

/** Edits a member in the client's spelling. A body has one of them at most; a missing member is added as the first. */
function editEither(names: readonly string[], edit: (value: string | undefined) => string): Edits {
  let isEdited = false;
  // Members that the text has are edited before those that it lacks are added.
  const editOnce: ValueEdit = (value) => {
    if (isEdited) return undefined;
    isEdited = true;
    return edit(value);
  };
  return Object.fromEntries(names.map((name) => [name, editOnce]));
}

/** Returns what the media of a body add to the input beyond its text. Checks the shape of its contents. */
function sizeOfPrompt(
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
  return type.startsWith("image/") ? imageSize(readText(data).length) : UNBOUNDED_SIZE;
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
