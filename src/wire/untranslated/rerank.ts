import type { UnitDemand } from "../../domain/units.ts";
import { BYTES_PER_TOKEN_MIN } from "../../domain/usage.ts";
import { editMembers } from "../json/edit.ts";
import { ANSWER_MAX, isJsonObject, isSet, type JsonObject, parseJsonObject } from "../json/read.ts";
import type { JsonMeasure } from "../json/scan.ts";
import type { ModelRequest, RequestHead } from "../model-request.ts";
import { readDetails } from "../openai-usage.ts";
import { inputSizeOf, TEXT_SIZE } from "../prompt-size.ts";
import type { ReplyPart } from "../reply-part.ts";
import {
  parseBody,
  readFlag,
  readPositive,
  reject,
  requireFilledText,
  requireModel,
  requireText,
} from "../request-body.ts";
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

const CHECKED = ["query", "documents", "top_n", "top_k", "return_documents"];
const FIELDS = fieldsWith(...CHECKED);

/** The rerank format that Cohere, Jina and Voyage share. */
export const rerank = createUntranslated({
  surface: "rerank",
  path: "/v1/rerank",
  // Cohere's SDKs of today.
  aliases: ["/v2/rerank"],
  upstreamPath: "/rerank",
  parseRequest,
  printUpstreamRequest: printsOnce(CHECKED),
  readWhole,
});

const DOCUMENTS_MAX = 10_000;
const DOCUMENTS_PER_SEARCH = 100;
/** A longer document, with its query, counts as several. */
const CHUNK_TOKENS = 500;
/** The part of a query that a chunk repeats. */
const QUERY_TOKENS_MAX = 256;

/**
 * Parses and checks a rerank body: a query, and 1 to 10,000 documents that are texts or objects with a `text`.
 * The upstream checks unknown fields.
 *
 * @see https://docs.cohere.com/reference/rerank
 * @see https://api.jina.ai/redoc#tag/rerank
 * @see https://docs.voyageai.com/reference/reranker-api
 */
function parseRequest(text: string, measured?: JsonMeasure): ModelRequest {
  const { body, repeatsKeys } = parseBody(text, FIELDS, measured);
  const model = requireModel(body);
  const query = requireFilledText(body.query, "query");
  const documents = readDocuments(body);
  readPositive(body, "top_n");
  readPositive(body, "top_k");
  readFlag(body, "return_documents");
  UNPRICED_RULE.reject(body, repeatsKeys);
  const { textBytes, ...size } = inputSizeOf(text, TEXT_SIZE, repeatsKeys);
  // A reranker reads the query once for each document.
  const readAgain = Buffer.byteLength(query) * (documents.length - 1);
  const input = { ...size, textBytes: textBytes + readAgain, prompts: documents.length };
  const facts = plainFacts({ model, input, units: demandOf(query, documents) });
  return untranslatedRequest(text, facts, () => documents.map((each) => `${query} ${each}`).join(" "));
}

function readDocuments({ documents }: JsonObject): readonly string[] {
  if (!Array.isArray(documents) || documents.length === 0 || documents.length > DOCUMENTS_MAX) {
    reject("documents");
  }
  return documents.map((each, position) => {
    const path = `documents[${position}]`;
    return isJsonObject(each) && isSet(each.text)
      ? requireText(each.text, `${path}.text`)
      : requireText(each, path);
  });
}

/**
 * One search ranks up to 100 documents. The hold counts chunks of 500 tokens as documents, as Cohere bills.
 *
 * @see https://docs.cohere.com/docs/how-does-cohere-pricing-work#rerank
 */
function demandOf(query: string, documents: readonly string[]): UnitDemand {
  const room = CHUNK_TOKENS - Math.min(tokensMaxOf(query), QUERY_TOKENS_MAX);
  let chunks = 0;
  for (const each of documents) chunks += Math.max(1, Math.ceil(tokensMaxOf(each) / room));
  return { name: "search", held: searchesOf(chunks), usual: searchesOf(documents.length) };
}

function searchesOf(documents: number): number {
  return Math.ceil(documents / DOCUMENTS_PER_SEARCH);
}

function tokensMaxOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN_MIN);
}

/**
 * Reads a list of ranked documents: `results`, or `data` of Voyage. The body passes through except the model's
 * name. Throws {@link UpstreamFault} for anything else; an empty list is valid and not readable.
 */
function readWhole(request: RequestHead, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  const ranked = body?.results ?? body?.data;
  if (!body || body.error || !Array.isArray(ranked)) {
    throw new UpstreamFault("The answer is not a list of ranked documents");
  }
  const hasPlaces = ranked.every((each) => isJsonObject(each) && typeof each.index === "number");
  if (!hasPlaces) throw new UpstreamFault("A ranked document has no index");
  const { search_units: searches } = readDetails(readDetails(body.meta).billed_units);
  return {
    text: editMembers(text, {
      model: (value) => (value === undefined ? undefined : JSON.stringify(request.model)),
    }),
    isOutput: true,
    isReadable: ranked.length > 0,
    generated: "",
    usage: readInputUsage(body.usage),
    units: typeof searches === "number" ? { count: searches } : undefined,
  };
}
