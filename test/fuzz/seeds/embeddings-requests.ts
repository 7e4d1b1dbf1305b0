import { MODEL } from "./tools.ts";

/** Embeddings requests of real clients. */
export const EMBEDDINGS_REQUESTS: readonly object[] = [
  { model: MODEL, input: "Snow.", encoding_format: "base64" },
  { model: MODEL, input: ["Snow.", "Sun."], dimensions: 4, user: "u" },
  { model: MODEL, input: [1, 2, 3], encoding_format: "float" },
  { model: MODEL, input: [[1, 2], [3]] },
];

export const EMBEDDINGS_SNIPPETS: readonly unknown[] = [
  "",
  7,
  -1,
  [1],
  [],
  ["x"],
  { text: "x" },
  "x".repeat(300),
];
