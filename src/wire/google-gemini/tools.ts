// Which tools of a request Google runs at a fee, and whether an answer used one.
import type { ToolCalls, ToolDemands } from "../../domain/tool-fees.ts";
import { isJsonObject, isSet, readArray } from "../json/read.ts";
import { rejectUnpricedField } from "../unpriced-fields.ts";
import { join, readObjects } from "./names.ts";

/** The fee of an answer that searched, whatever the number of its queries. */
const GROUNDING = "grounding";

/** The tools that run at the client, in both spellings. */
const CLIENT_TOOLS = new Set([
  "functionDeclarations",
  "function_declarations",
  "computerUse",
  "computer_use",
]);
/**
 * Searches that older models bill once for each grounded prompt, in all spellings.
 *
 * @see https://ai.google.dev/gemini-api/docs/google-search
 */
const SEARCHES = new Set([
  "googleSearch",
  "google_search",
  "googleSearchRetrieval",
  "google_search_retrieval",
]);
/** Errors show names of tools only: a client may send any key. */
const NAME = /^\w{1,64}$/;

/**
 * Reads the search of a body; `undefined` for none. Throws `unpriced_field` for every other tool that Google runs: it
 * has a fee of its own, or may get one.
 */
export function readToolDemands(tools: unknown): ToolDemands | undefined {
  let path: string | undefined;
  for (const [position, tool] of readObjects(tools, "tools").entries()) {
    const place = `tools[${position}]`;
    for (const [key, value] of Object.entries(tool)) {
      if (!isSet(value) || CLIENT_TOOLS.has(key)) continue;
      if (!SEARCHES.has(key)) rejectUnpricedField(NAME.test(key) ? join(place, key) : place);
      path ??= join(place, key);
    }
  }
  return path === undefined ? undefined : { tools: [{ name: GROUNDING, path, callsMax: 1 }], areAll: true };
}

/** Returns the name of a search among the members of a tool; `undefined` for none. */
export function searchIn(tool: object): string | undefined {
  return Object.entries(tool).find(([key, value]) => SEARCHES.has(key) && isSet(value))?.[0];
}

/** Returns the calls of a candidate that was grounded; `undefined` for any other. */
export function readGrounding(metadata: unknown): ToolCalls | undefined {
  if (!isJsonObject(metadata)) return undefined;
  const { webSearchQueries, groundingChunks } = metadata;
  const isGrounded = readArray(webSearchQueries).length > 0 || readArray(groundingChunks).length > 0;
  return isGrounded ? GROUNDED : undefined;
}

const GROUNDED: ToolCalls = { [GROUNDING]: 1 };
