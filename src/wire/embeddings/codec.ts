/** A request for embeddings in no provider's format. */
export interface EmbeddingsRequest {
  /** At least one. */
  readonly texts: readonly string[];
  /** The length of each vector; `undefined` for that of the model. */
  readonly dimensions: number | undefined;
  /** What the texts are for, in Cohere's words. */
  readonly inputType: string | undefined;
  /** What the texts are for, in Google's words. */
  readonly taskType: string | undefined;
}

/** The vectors of an answer, one for each text, in their order. */
interface EmbeddingsReply {
  readonly vectors: readonly (readonly number[])[];
  /** As the upstream reports them, counted or not; `undefined` without a report. */
  readonly inputTokens: number | undefined;
}

/** The upstream's side of a format of embeddings, for requests in OpenAI's. */
export interface EmbeddingsCodec {
  /** The most texts that one call to a model takes. */
  textsMax(model: string): number;
  printRequest(request: EmbeddingsRequest, model: string): string;
  /** Throws `UpstreamFault` for an answer without vectors. */
  readReply(text: string): EmbeddingsReply;
}
