import { createUntranslated } from "../untranslated.ts";
import { readWhole } from "./passthrough/reply.ts";
import { parseRequest, printUpstreamRequest } from "./request.ts";

/** The rerank format that Cohere, Jina and Voyage share. */
export const rerank = createUntranslated({
  surface: "rerank",
  path: "/v1/rerank",
  // Cohere's SDKs of today.
  aliases: ["/v2/rerank"],
  upstreamPath: "/rerank",
  parseRequest,
  printUpstreamRequest,
  readWhole,
});
