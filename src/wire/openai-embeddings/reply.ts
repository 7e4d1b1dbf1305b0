import { ANSWER_VALUES_MAX, isJsonObject, parseJsonObject } from "../json-read.ts";
import { editMembers } from "../json-text.ts";
import { type ModelRequest, type ReplyPart, type ReplyReader, UpstreamFault } from "../wire-protocol.ts";
import { readUsage } from "./usage.ts";

/** More numbers than any model has in a vector, as far as we know. */
const VECTOR_VALUES_MAX = 4_200;

/**
 * Reads a list of embeddings. The body passes as it is but for the model's name. Throws {@link UpstreamFault}
 * for what is none; a list without a vector is one, with nothing in it to be read.
 */
export function readWhole(request: ModelRequest, text: string): ReplyPart {
  const valuesMax = Math.max(ANSWER_VALUES_MAX, (request.input.prompts ?? 1) * VECTOR_VALUES_MAX);
  const body = parseJsonObject(text, valuesMax);
  if (body === undefined || body.error || !Array.isArray(body.data)) {
    throw new UpstreamFault("The answer is no list of embeddings");
  }
  if (!body.data.every(hasVector)) throw new UpstreamFault("An embedding has no vector");
  return {
    text: editMembers(text, { model: () => JSON.stringify(request.model) }),
    isOutput: true,
    isReadable: body.data.length > 0,
    generated: "",
    usage: readUsage(body.usage),
  };
}

/** Nobody asks for one: a request for embeddings is never a stream. */
export function readStream(): ReplyReader {
  throw new Error("Embeddings are not streamed");
}

/** Numbers, or base64 of them. */
function hasVector(entry: unknown): boolean {
  if (!isJsonObject(entry)) return false;
  const { embedding } = entry;
  return (typeof embedding === "string" || Array.isArray(embedding)) && embedding.length > 0;
}
