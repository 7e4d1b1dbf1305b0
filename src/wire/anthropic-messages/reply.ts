import { ANSWER_VALUES_MAX, isJsonObject, parseJsonObject } from "../json-read.ts";
import { editMembers } from "../json-text.ts";
import { type ModelRequest, type ReplyPart, UpstreamFault } from "../wire-protocol.ts";
import { readBlock } from "./content.ts";
import { isRefusal, readStopReason } from "./finish-reason.ts";
import { readUsage } from "./usage.ts";

/**
 * Reads a whole message. The body passes as it is but for the model's name, thinking and signatures
 * included. Throws {@link UpstreamFault} for what is no message.
 */
export function readWhole(request: ModelRequest, text: string): ReplyPart {
  const body = parseJsonObject(text, ANSWER_VALUES_MAX);
  if (body === undefined || body.error || body.type === "error" || !Array.isArray(body.content)) {
    throw new UpstreamFault("The answer is no message");
  }
  const blocks = body.content.filter(isJsonObject).map(readBlock);
  const stopReason = readStopReason(body.stop_reason);
  if (stopReason === undefined) throw new UpstreamFault("The message has no stop reason");
  return {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    isReadable: isRefusal(stopReason) || blocks.some((block) => block.isReadable),
    generated: blocks.map((block) => block.generated).join(""),
    usage: isJsonObject(body.usage) ? readUsage(body.usage) : undefined,
  };
}
