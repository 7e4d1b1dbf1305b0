import { editMembers } from "../../json/edit.ts";
import { parseJsonObject } from "../../json/read.ts";
import { type ReplyPart, type ReplyReader, type RequestFacts, UpstreamFault } from "../../protocol.ts";
import { scanReply } from "../scan-reply.ts";
import { readUsage } from "../usage.ts";

/**
 * Reads a list of embeddings. The body passes as it is but for the model's name. Throws {@link UpstreamFault}
 * for what is none; a list without a vector is one, with nothing in it to be read.
 */
export function readWhole(request: RequestFacts, text: string): ReplyPart {
  const data = scanReply(text);
  // Millions of numbers would keep the parser for a second: all else is parsed, and edited, without them.
  const frame = data && `${text.slice(0, data.start)}[]${text.slice(data.end)}`;
  const body = frame && parseJsonObject(frame);
  if (!body || body.error) throw new UpstreamFault("The answer is no list of embeddings");
  return {
    text: editMembers(frame, {
      model: () => JSON.stringify(request.model),
      data: () => text.slice(data.start, data.end),
    }),
    isOutput: true,
    isReadable: data.entries > 0,
    generated: "",
    usage: readUsage(body.usage),
  };
}

/** Nobody asks for one: a request for embeddings is never a stream. */
export function readStream(): ReplyReader {
  throw new Error("Embeddings are not streamed");
}
