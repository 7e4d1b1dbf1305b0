import { readInputUsage } from "../../input-usage.ts";
import { editMembers } from "../../json/edit.ts";
import { ANSWER_MAX, isJsonObject, parseJsonObject } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import { readDetails } from "../../openai-usage.ts";
import type { ReplyPart } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/**
 * Reads a list of ranked documents: `results`, or `data` of Voyage. The body passes through except the model's
 * name. Throws {@link UpstreamFault} for anything else; an empty list is valid and not readable.
 *
 * @see https://docs.cohere.com/reference/rerank
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
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
