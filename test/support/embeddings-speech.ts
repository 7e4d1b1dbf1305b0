import { type Answer, answer, type Script } from "./script.ts";

/** Vectors that a 32-bit number holds exactly, so that both encodings say the same. */
export const VECTOR = [0.5, -0.25, 0.125];

/** Answers a request for embeddings as the provider would: a vector a prompt, in the encoding that was asked for. */
export function embeds(
  usage: object | undefined = { prompt_tokens: 11, total_tokens: 11 },
  how: Omit<Answer, "body"> = {},
): Script {
  return (request) => {
    const { input, encoding_format: encoding }: Record<string, unknown> = JSON.parse(request.bodyText);
    const data = Array.from({ length: promptsOf(input) }, (_, index) => ({
      object: "embedding",
      index,
      embedding: encoding === "base64" ? base64Of(VECTOR) : VECTOR,
    }));
    const body = JSON.stringify({ object: "list", data, model: "upstream-secret-name", usage });
    return answer({ ...how, body })(request);
  };
}

function promptsOf(input: unknown): number {
  return Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
}

function base64Of(numbers: readonly number[]): string {
  return Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
}
