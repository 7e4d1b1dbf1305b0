import type { JsonObject } from "../json/read.ts";
import { refuse } from "../request-body.ts";

/** What is to be embedded: texts, or tokens that the client has counted itself. */
export interface EmbeddingInput {
  /** Each of them gets a vector. */
  readonly prompts: number;
  readonly texts: readonly string[];
  readonly tokenIds: number;
}

const PROMPTS_MAX = 2_048;

/** Reads a text, a list of texts, a list of token ids or a list of such lists: of prompts 1 to 2,048, none empty. */
export function readInput({ input }: JsonObject): EmbeddingInput {
  if (typeof input === "string") return { prompts: 1, texts: [requireText(input, "input")], tokenIds: 0 };
  const list = requireFilled(input, "input");
  if (typeof list[0] === "number") return { prompts: 1, texts: [], tokenIds: countIds(list, "input") };
  if (list.length > PROMPTS_MAX) refuse("input");
  return typeof list[0] === "string" ? readTexts(list) : readTokenLists(list);
}

function readTexts(list: readonly unknown[]): EmbeddingInput {
  const texts = list.map((text, position) => requireText(text, `input[${position}]`));
  return { prompts: list.length, texts, tokenIds: 0 };
}

function readTokenLists(list: readonly unknown[]): EmbeddingInput {
  let tokenIds = 0;
  for (const [position, ids] of list.entries()) {
    const path = `input[${position}]`;
    tokenIds += countIds(requireFilled(ids, path), path);
  }
  return { prompts: list.length, texts: [], tokenIds };
}

function countIds(ids: readonly unknown[], path: string): number {
  const wrong = ids.findIndex((id) => typeof id !== "number" || !Number.isSafeInteger(id) || id < 0);
  if (wrong >= 0) refuse(`${path}[${wrong}]`);
  return ids.length;
}

function requireText(value: unknown, path: string): string {
  if (typeof value !== "string" || value === "") refuse(path);
  return value;
}

function requireFilled(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0) refuse(path);
  return value;
}
