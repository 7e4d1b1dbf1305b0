import { type JsonObject, parseJsonObject } from "../json/read.ts";
import { UpstreamFault } from "../upstream-fault.ts";

/** Parses an answer. Throws {@link UpstreamFault} for anything but an object without an error. */
export function readAnswer(text: string): JsonObject {
  const answer = parseJsonObject(text);
  if (!answer || answer.error) throw new UpstreamFault("The answer is not a list of embeddings");
  return answer;
}

/** Returns a vector of numbers. Throws {@link UpstreamFault} for anything else, and for an empty one. */
export function readVector(value: unknown): readonly number[] {
  const isVector =
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "number");
  if (!isVector) throw new UpstreamFault("The answer has no vector");
  return value;
}

/** Adds up counts; `undefined` unless each is a number. Impossible counts are kept. */
export function sumOfCounts(counts: readonly unknown[]): number | undefined {
  let sum = 0;
  for (const count of counts) {
    if (typeof count !== "number") return undefined;
    sum += count;
  }
  return counts.length > 0 ? sum : undefined;
}

/** Encodes a vector as OpenAI does: 32-bit floats, the low byte first, in base64. */
export function encodeVector(vector: readonly number[]): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true);
  return Buffer.from(bytes.buffer).toString("base64");
}
