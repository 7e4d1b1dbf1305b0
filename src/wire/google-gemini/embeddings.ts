import { editElements, sliceMember } from "../json/edit.ts";
import { isSet, type JsonObject } from "../json/read.ts";
import { parseBody, reject, rejectUntranslatable, requireFilledText } from "../request-body.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import { CONTENT, join, PART, readerOf, readInteger, readMember, readObjects } from "./names.ts";

// Google's embeddings in OpenAI's form, in which the gateway reads and prices embeddings.

const EMBED = readerOf([
  "model",
  "content",
  "taskType",
  "title",
  "outputDimensionality",
  "embedContentConfig",
]);
const BATCH = readerOf(["requests"]);
const CONFIG = readerOf(["outputDimensionality"]);

/** How the client asks: for one embedding, or for several. */
export type EmbedMethod = "embedContent" | "batchEmbedContents";

/** The text of one request for an embedding. */
interface Prompt {
  readonly text: string;
  readonly dimensions: number | undefined;
}

/**
 * Converts a body into one of OpenAI's form. Drops the type of task and the title, which other providers do not
 * have. Throws `not_json`, `wrong_shape` or `untranslatable`.
 *
 * @see https://ai.google.dev/api/embeddings
 */
export function readEmbedRequest(text: string, method: EmbedMethod, model: string): string {
  const { body, repeatsKeys } = parseBody(text, new Set());
  if (repeatsKeys) reject("content");
  const prompts = method === "embedContent" ? [readPrompt(body, "", model)] : readBatch(body, model);
  const [dimensions, ...others] = new Set(prompts.map((prompt) => prompt.dimensions));
  if (others.length > 0) rejectUntranslatable("requests[1].outputDimensionality");
  const input = prompts.map((prompt) => prompt.text);
  return JSON.stringify({ model, input, dimensions, encoding_format: "float" });
}

function readBatch(body: JsonObject, model: string): readonly Prompt[] {
  const requests = readObjects(BATCH.read(body, "").requests, "requests");
  if (requests.length === 0) reject("requests");
  return requests.map((request, position) => readPrompt(request, `requests[${position}]`, model));
}

function readPrompt(request: JsonObject, path: string, model: string): Prompt {
  const members = EMBED.read(request, path);
  const { model: named } = members;
  if (isSet(named) && named !== model && named !== `models/${model}`) reject(join(path, "model"));
  const configPath = join(path, "embedContentConfig");
  const config = CONFIG.read(readMember(members.embedContentConfig, configPath) ?? {}, configPath);
  const dimensions = members.outputDimensionality ?? config.outputDimensionality;
  return {
    text: readText(members.content, join(path, "content")),
    dimensions: readInteger(dimensions, join(path, "outputDimensionality")),
  };
}

function readText(content: unknown, path: string): string {
  const { parts } = CONTENT.read(readMember(content, path) ?? reject(path), path);
  const place = join(path, "parts");
  const texts = readObjects(parts, place).map((part, position) => {
    const { text } = PART.read(part, place);
    return isSet(text) ? text : rejectUntranslatable(`${place}[${position}]`);
  });
  return requireFilledText(texts.join("\n"), place);
}

/** Prints a whole answer of OpenAI's form in Google's. Does not parse the numbers. Throws {@link UpstreamFault}. */
export function printEmbedAnswer(text: string, method: EmbedMethod): string {
  const data = sliceMember(text, "data");
  const embeddings: string[] = [];
  if (data !== undefined) {
    editElements(data, (element) => {
      embeddings.push(printVector(sliceMember(element, "embedding")));
      return "";
    });
  }
  const [first] = embeddings;
  if (first === undefined) throw new UpstreamFault("The answer is not a list of embeddings");
  return method === "embedContent" ? `{"embedding":${first}}` : `{"embeddings":[${embeddings.join(",")}]}`;
}

/** Some hosts send base64 of floats whatever was asked for. */
function printVector(vector: string | undefined): string {
  if (vector?.startsWith("[")) return `{"values":${vector}}`;
  if (!vector?.startsWith('"')) throw new UpstreamFault("An embedding has no vector");
  const bytes = Buffer.from(vector.slice(1, -1).replaceAll("\\/", "/"), "base64");
  const values = Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => bytes.readFloatLE(4 * at));
  return JSON.stringify({ values });
}
