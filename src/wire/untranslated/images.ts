import { editMembers, once } from "../json/edit.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import { parseBody, readModel, requireFilledText } from "../request-body.ts";
import { TIER_FIELDS } from "../unpriced-fields.ts";
import { createImageAnswers } from "./image-answers.ts";
import { factsOfImages, IMAGE_FIELDS, readAskedImages } from "./image-request.ts";
import { createUntranslated, UNPRICED_RULE, untranslatedRequest } from "./untranslated.ts";

/**
 * OpenAI's generation of images from a text.
 *
 * @see https://platform.openai.com/docs/api-reference/images
 */
export const openaiImages = createUntranslated({
  surface: "images",
  path: "/v1/images/generations",
  upstreamPath: "/images/generations",
  parseRequest,
  printUpstreamRequest,
  ...createImageAnswers("image_generation"),
});

const SENT_ONCE = ["prompt", ...IMAGE_FIELDS, ...Object.keys(TIER_FIELDS)];
/** Fields that the gateway checks or edits. */
const FIELDS = new Set([
  ...["model", "prompt", "stream", "partial_images"],
  ...IMAGE_FIELDS,
  ...UNPRICED_RULE.names,
]);

/**
 * Parses and checks a body that asks for 1 to 10 images. The upstream checks the other fields. Partial images
 * have a price in tokens, and none by image.
 *
 * @see https://platform.openai.com/docs/api-reference/images/create
 */
function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS, measured);
  const model = readModel(body);
  const prompt = requireFilledText(body.prompt, "prompt");
  const asked = readAskedImages(body);
  UNPRICED_RULE.reject(body, repeatsKeys);
  const input = inputSizeOf(text, TEXT_SIZE, repeatsKeys);
  const facts = factsOfImages({ model, body, input }, asked);
  return untranslatedRequest(text, facts, () => prompt);
}

const ONCE_EACH = Object.fromEntries(SENT_ONCE.map((name) => [name, once]));

/** Prints the body for an upstream: its model name, each checked field once, and of a stream only what was asked for. */
function printUpstreamRequest(request: ModelRequest, { model }: UpstreamRequestOptions): string {
  const ofStream = request.stream ? once : () => undefined;
  return editMembers(request.text, {
    ...ONCE_EACH,
    model: () => JSON.stringify(model),
    stream: ofStream,
    partial_images: ofStream,
  });
}
