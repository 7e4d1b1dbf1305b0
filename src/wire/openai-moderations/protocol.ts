import { createUntranslated } from "../untranslated.ts";
import { readWhole } from "./passthrough/reply.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

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
  printUpstreamRequest,
  readWhole,
});
