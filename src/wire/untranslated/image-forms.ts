import { type Form, type FormField, foldedName, readField, readFormFlag } from "../form.ts";
import type { WireFormat } from "../format.ts";
import type { JsonObject } from "../json/read.ts";
import type { RequestHead } from "../model-request.ts";
import { reject, requireFilledText, requireName } from "../request-body.ts";
import { createUnpricedRule } from "../unpriced-fields.ts";
import { createImageAnswers } from "./image-answers.ts";
import { factsOfImages, IMAGE_FIELDS, readAskedImages } from "./image-request.ts";
import { createUntranslated, readsForms } from "./untranslated.ts";

/**
 * OpenAI's edit of up to 16 images by a text, with a mask for the first one.
 *
 * @see https://platform.openai.com/docs/api-reference/images/createEdit
 */
export const openaiImageEdits = createImageForm({
  surface: "image_edits",
  upstreamPath: "/images/edits",
  imagesMax: 16,
  hasPrompt: true,
});

/**
 * OpenAI's variations of one image.
 *
 * @see https://platform.openai.com/docs/api-reference/images/createVariation
 */
export const openaiImageVariations = createImageForm({
  surface: "image_variations",
  upstreamPath: "/images/variations",
  imagesMax: 1,
  hasPrompt: false,
});

interface ImageForm {
  readonly surface: "image_edits" | "image_variations";
  readonly upstreamPath: "/images/edits" | "/images/variations";
  readonly imagesMax: number;
  /** Whether it has a prompt, a mask and a stream. */
  readonly hasPrompt: boolean;
}

function createImageForm(own: ImageForm): WireFormat {
  const { surface, upstreamPath } = own;
  return createUntranslated({
    surface,
    path: `/v1${upstreamPath}`,
    upstreamPath,
    form: { readForm: (form) => readForm(form, own), promptText, isSent },
    ...readsForms("image"),
    ...createImageAnswers("image_edit"),
  });
}

const OF_STREAM: readonly string[] = ["stream", "partial_images"];
const NUMBERS: readonly string[] = ["n", "partial_images"];
/** Names of files, and of fields that the gateway checks or edits. */
const FIELDS = new Set(["model", "prompt", "user", "image", "mask", ...OF_STREAM, ...IMAGE_FIELDS]);
const FORM_RULE = createUnpricedRule(new Set());
/** An image alone, one of a list, or one with its place in the list. */
const IMAGE = /^image(\[\d{0,2}\])?$/;
/** OpenAI reads an image at high fidelity as up to 7,700 tokens. */
const IMAGE_WEIGHT = 4;

/** Checks a form with images. The upstream checks the other fields. Files decide nothing but their number. */
function readForm(form: Form, own: ImageForm): RequestHead {
  const body = readBody(form);
  const model = body.model === undefined ? "" : requireName(body.model, "model");
  if (own.hasPrompt) requireFilledText(body.prompt, "prompt");
  else if (body.stream) reject("stream");
  const images = countImages(form, own);
  let mediaBytes = 0;
  for (const { bytes } of form.files) mediaBytes += bytes;
  const textBytes = Buffer.byteLength(promptText(form));
  const size = { textBytes, mediaBytes, images, unbounded: false, serverTools: false };
  return factsOfImages({ model, body, input: { ...size, imageWeight: IMAGE_WEIGHT } }, readAskedImages(body));
}

/** Returns the checked fields of a form as if they were members of a JSON body. */
function readBody(form: Form): JsonObject {
  const body: Record<string, unknown> = {};
  for (const { name } of form.fields) {
    const folded = foldedName(name);
    // A file that is sent as text has no size here, and another spelling may be read as the field itself.
    if (folded === "image" || folded === "mask" || (FIELDS.has(folded) && folded !== name)) reject(folded);
    const isChecked = FIELDS.has(name) || FORM_RULE.names.includes(folded);
    const value = isChecked ? (readField(form, name) ?? "") : "";
    FORM_RULE.reject({ [folded]: value }, false);
    if (FIELDS.has(name)) body[name] = NUMBERS.includes(name) ? readNumber(value) : value;
  }
  return { ...body, stream: readFormFlag(form, "stream") };
}

/** Text that is no number stays, and is refused as one. */
function readNumber(value: string): unknown {
  return /^\d{1,9}$/.test(value) ? Number(value) : value;
}

/** Counts the images and the mask. Throws `wrong_shape` for none, too many, an empty one or another file. */
function countImages({ files }: Form, { imagesMax, hasPrompt }: ImageForm): number {
  const masks = files.filter(({ field }) => field === "mask").length;
  const images = files.length - masks;
  const empty = files.find(({ field, bytes }) => bytes === 0 || !(field === "mask" || IMAGE.test(field)));
  if (empty) reject(foldedName(empty.field) || "image");
  if (masks > (hasPrompt ? 1 : 0)) reject("mask");
  if (images < 1 || images > imagesMax) reject("image");
  return files.length;
}

function promptText(form: Form): string {
  return readField(form, "prompt") ?? "";
}

/** An upstream is sent what concerns a stream with a stream only. */
function isSent({ name }: FormField, { stream }: RequestHead): boolean {
  return stream || !OF_STREAM.includes(name);
}
