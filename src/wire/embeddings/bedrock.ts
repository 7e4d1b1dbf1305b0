import { readPromptTooLong } from "../bedrock-converse/egress/read-answer.ts";
import type { EmbeddingsFormat } from "../format.ts";
import { isJsonObject, readArray } from "../json/read.ts";
import type { EmbeddingsCodec } from "./codec.ts";
import { readAnswer, readVector } from "./vectors.ts";

const COHERE_TEXTS_MAX = 96;

const titanCodec: EmbeddingsCodec = {
  textsMax: () => 1,
  printRequest: ({ texts: [inputText], dimensions }) => JSON.stringify({ inputText, dimensions }),
  readReply(text) {
    const { embedding, inputTextTokenCount: tokens } = readAnswer(text);
    return {
      vectors: [readVector(embedding)],
      inputTokens: typeof tokens === "number" ? tokens : undefined,
    };
  },
};

/**
 * Amazon's Titan embeddings on Bedrock, one text a call.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
 */
export const titanEmbeddings: EmbeddingsFormat = invoked("titan_embeddings", titanCodec);

const cohereCodec: EmbeddingsCodec = {
  textsMax: () => COHERE_TEXTS_MAX,
  printRequest: ({ texts, dimensions, inputType = "search_document" }) =>
    JSON.stringify({
      texts,
      input_type: inputType,
      embedding_types: ["float"],
      output_dimension: dimensions,
    }),
  readReply(text) {
    const { answer, input_tokens: tokens } = readAnswer(text);
    const { embeddings } = isJsonObject(answer) ? answer : {};
    const vectors = readArray(isJsonObject(embeddings) ? embeddings.float : embeddings);
    return { vectors: vectors.map(readVector), inputTokens: typeof tokens === "number" ? tokens : undefined };
  },
};

/**
 * Cohere's embeddings on Bedrock. The transport wraps the answer, because its tokens are in a header.
 *
 * @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-embed.html
 */
export const cohereEmbeddings: EmbeddingsFormat = invoked("cohere_embeddings", cohereCodec);

function invoked(surface: EmbeddingsFormat["surface"], embeddings: EmbeddingsCodec): EmbeddingsFormat {
  return {
    surface,
    upstreamPath: ({ model }) => `/model/${encodeURIComponent(model)}/invoke`,
    headers: {},
    forwardedHeaders: [],
    egress: undefined,
    embeddings,
    readPromptTooLong,
  };
}
