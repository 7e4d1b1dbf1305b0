import { ANSWER_MAX, parseJsonObject } from "../../json/read.ts";
import { editMembers } from "../../json/text.ts";
import { type ReplyPart, type RequestFacts, UpstreamFault } from "../../protocol.ts";
import { isFiltered, requireFinished } from "../finish-reason.ts";
import { readUsage } from "../usage.ts";
import { readOutput } from "./content.ts";

/**
 * Reads a whole response. The body passes as it is but for the model's name. Throws {@link UpstreamFault}
 * for what is none, or is not finished.
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_MAX);
  if (body === undefined || !Array.isArray(body.output)) throw new UpstreamFault("The answer is no response");
  requireFinished(body);
  const { generated, isReadable } = readOutput(body.output);
  return {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    isReadable: isReadable || isFiltered(body),
    generated,
    usage: readUsage(body.usage),
  };
}
