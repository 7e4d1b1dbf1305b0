import { NO_USAGE } from "../../domain/usage.ts";
import { GatewayError } from "../../errors.ts";
import type { AnswerContext, AnswerHead, EmbeddingsFormat } from "../format.ts";
import { isSet, type JsonObject, parseJsonObject, readText } from "../json/read.ts";
import type { ModelRequest, UpstreamRequestOptions } from "../model-request.ts";
import type { ReplyPart, ReplyReader } from "../reply-part.ts";
import { UpstreamFault } from "../upstream-fault.ts";
import type { EmbeddingsRequest } from "./codec.ts";
import { encodeVector } from "./vectors.ts";

/** Begins the translation of a request. Throws `untranslatable` for token ids, which only OpenAI's models have. */
export function beginEmbeddings(format: EmbeddingsFormat, request: ModelRequest) {
  const body = parseJsonObject(request.text) ?? {};
  const neutral = readRequest(body);
  const { embeddings } = format;
  const context = { ...contextOf(request), encodesVectors: body.encoding_format === "base64" };
  return {
    ...readEmbeddings(format, context),
    /** Throws `untranslatable` for more texts than a call takes. */
    textBytes({ model }: UpstreamRequestOptions): number {
      if (neutral.texts.length > embeddings.textsMax(model)) rejectInput();
      return request.input.textBytes;
    },
    printUpstreamRequest: ({ model }: UpstreamRequestOptions) => embeddings.printRequest(neutral, model),
  };
}

/** Reads the answers of a format of embeddings for a client of OpenAI's. */
export function readEmbeddings(format: EmbeddingsFormat, context: AnswerContext) {
  return {
    format,
    isPassthrough: false,
    context,
    readStream(): ReplyReader {
      throw new Error("Embeddings are not streamed");
    },
    readWhole: (head: AnswerHead, text: string) => readWhole(format, { context, head, text }),
  };
}

function contextOf(request: ModelRequest): AnswerContext {
  return { request, isReasoningShown: true, toolNames: new Map() };
}

/** Reads a body that was checked before. */
function readRequest({ input, dimensions, input_type, task_type }: JsonObject): EmbeddingsRequest {
  const inputs: readonly unknown[] = Array.isArray(input) ? input : [input];
  return {
    texts: inputs.map((text) => (typeof text === "string" ? text : rejectInput())),
    dimensions: typeof dimensions === "number" ? dimensions : undefined,
    inputType: isSet(input_type) ? readText(input_type) : undefined,
    taskType: isSet(task_type) ? readText(task_type) : undefined,
  };
}

function rejectInput(): never {
  throw new GatewayError("untranslatable", { path: "input" });
}

interface Answer {
  readonly context: AnswerContext;
  readonly head: AnswerHead;
  readonly text: string;
}

/** Reads vectors, one for each prompt, and prints them as OpenAI's list. Throws {@link UpstreamFault}. */
function readWhole({ embeddings }: EmbeddingsFormat, { context, head, text }: Answer): ReplyPart {
  const { request, encodesVectors = false } = context;
  const { vectors, inputTokens } = embeddings.readReply(text);
  if (vectors.length !== (request.input.prompts ?? 1)) {
    throw new UpstreamFault("The answer has another number of vectors than the request has texts");
  }
  const tokens = inputTokens ?? head.inputTokens;
  const answer = {
    object: "list",
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: encodesVectors ? encodeVector(vector) : vector,
    })),
    model: request.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
  return {
    text: JSON.stringify(answer),
    isOutput: true,
    isReadable: true,
    generated: "",
    usage: inputTokens === undefined ? undefined : { ...NO_USAGE, inputTokens },
  };
}
