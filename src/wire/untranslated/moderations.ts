import { editMembers } from "../json/edit.ts";
import { isJsonObject, type JsonObject, parseJsonObject, readText } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, RequestHead } from "../model-request.ts";
import { imageCharsOf, imageSize, inputSizeOf, sumOfSizes, TEXT_SIZE } from "../prompt-size.ts";
import type { ReplyPart } from "../reply-part.ts";
import { parseBody, readModel, reject, requireText } from "../request-body.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import {
  createUntranslated,
  fieldsWith,
  plainFacts,
  printsOnce,
  readInputUsage,
  UNPRICED_RULE,
  untranslatedRequest,
} from "./untranslated.ts";

const CHECKED = ["input"];
const FIELDS = fieldsWith(...CHECKED);

/**
 * OpenAI's moderations.
 *
 * @see https://platform.openai.com/docs/api-reference/moderations
 */
export const openaiModerations = createUntranslated({
  surface: "moderations",
  path: "/v1/moderations",
  upstreamPath: "/moderations",
  parseRequest,
  printUpstreamRequest: printsOnce(CHECKED),
  readWhole,
});

const INPUTS_MAX = 2_048;

/** Parses and checks a moderation body: a text, or 1 to 2,048 texts or parts with a text or an image. */
function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS, measured);
  const model = readModel(body);
  const parts = readParts(body);
  UNPRICED_RULE.reject(body, repeatsKeys);
  const sizes = parts.map(({ url }) => (url === undefined ? TEXT_SIZE : imageSize(imageCharsOf(url))));
  const input = { ...inputSizeOf(text, sumOfSizes(sizes), repeatsKeys), prompts: parts.length };
  return untranslatedRequest(text, plainFacts({ model, input }), () =>
    parts.map((part) => part.text).join(" "),
  );
}

/** One text or image to judge. */
interface Part {
  /** "" for an image. */
  readonly text: string;
  /** The address or data of an image. */
  readonly url?: string;
}

function readParts({ input }: JsonObject): readonly Part[] {
  if (typeof input === "string") return [{ text: input }];
  if (!Array.isArray(input) || input.length === 0 || input.length > INPUTS_MAX) reject("input");
  return input.map((part, position) => readPart(part, `input[${position}]`));
}

function readPart(part: unknown, path: string): Part {
  if (!isJsonObject(part)) return { text: requireText(part, path) };
  if (part.type === "text") return { text: requireText(part.text, `${path}.text`) };
  const { image_url: image } = part;
  if (part.type !== "image_url" || !isJsonObject(image)) reject(path);
  return { text: "", url: readText(image.url) || reject(`${path}.image_url.url`) };
}

/**
 * Reads a list of verdicts. The body passes through except the model's name. Throws {@link UpstreamFault} for
 * anything else; an empty list is valid and not readable.
 *
 * @see https://platform.openai.com/docs/api-reference/moderations/object
 */
function readWhole(request: RequestHead, text: string): ReplyPart {
  const body = parseJsonObject(text);
  const results = body?.results;
  const isList = Array.isArray(results) && results.every(isJsonObject);
  if (!body || body.error || !isList) throw new UpstreamFault("The answer is not a list of verdicts");
  return {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    isReadable: results.length > 0,
    generated: "",
    usage: readInputUsage(body.usage),
  };
}
