import { readInputUsage } from "../../input-usage.ts";
import { editMembers } from "../../json/edit.ts";
import { isJsonObject, parseJsonObject } from "../../json/read.ts";
import type { RequestFacts } from "../../model-request.ts";
import type { ReplyPart } from "../../reply-part.ts";
import { UpstreamFault } from "../../upstream-fault.ts";

/**
 * Reads a list of verdicts. The body passes through except the model's name. Throws {@link UpstreamFault} for
 * anything else; an empty list is valid and not readable.
 *
 * @see https://platform.openai.com/docs/api-reference/moderations/object
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
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
