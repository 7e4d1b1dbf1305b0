import { isJsonObject } from "../../json/read.ts";
import { editMembers } from "../../json/text.ts";
import type { ReplyPart, RequestFacts } from "../../protocol.ts";
import { isRefusal } from "../finish-reason.ts";
import { parseMessage } from "../parse-answer.ts";
import { readUsage } from "../usage.ts";
import { readBlock } from "./content.ts";

/**
 * Reads a whole message. The body passes as it is but for the model's name, thinking and signatures
 * included. Throws `UpstreamFault` for what is no message.
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
  const { body, blocks, stopReason } = parseMessage(text);
  const contents = blocks.map(readBlock);
  return {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    // A request for no output at all, which fills a cache, is answered by an empty message.
    isReadable:
      request.outputTokensMax === 0 || isRefusal(stopReason) || contents.some(({ isReadable }) => isReadable),
    generated: contents.map((content) => content.generated).join(""),
    usage: isJsonObject(body.usage) ? readUsage(body.usage) : undefined,
  };
}
