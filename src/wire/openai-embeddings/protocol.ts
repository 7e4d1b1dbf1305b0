import { createUntranslated } from "../untranslated.ts";
import { readWhole } from "./passthrough/reply.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/**
 * OpenAI's embeddings. No other provider's format is equivalent, so they are never translated.
 *
 * @see https://platform.openai.com/docs/api-reference/embeddings
 */
export const openaiEmbeddings = createUntranslated({
  surface: "embeddings",
  path: "/v1/embeddings",
  upstreamPath: "/embeddings",
  parseRequest,
  printUpstreamRequest,
  readWhole,
});
