import { createUntranslated } from "../untranslated.ts";
import { readWhole } from "./passthrough/reply.ts";
import { readStream } from "./passthrough/stream.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

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
  readStream,
  readWhole,
});
