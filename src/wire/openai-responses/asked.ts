import { parseJsonObject, readArray } from "../json-read.ts";
import { requireItems } from "./items.ts";
import { readReasoning } from "./read-options.ts";
import { type OfferedTool, readOffer } from "./read-tools.ts";
import { printRepeated } from "./repeated.ts";

/** What an answer must know of the request that it answers. */
export interface Asked {
  /** Members that a response repeats, as JSON without braces. */
  readonly repeated: string;
  /** Tools by their one name. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  readonly showsReasoning: boolean;
  /** Whether reasoning shall come in a form that can be sent back. */
  readonly sealsReasoning: boolean;
}

const SEALED = "reasoning.encrypted_content";

/** Reads it from a body that has been found to be in order. */
export function readAsked(text: string): Asked {
  const body = parseJsonObject(text) ?? {};
  const tools = readOffer(body, requireItems(body));
  return {
    repeated: printRepeated(body),
    tools: new Map(tools.map((offered) => [offered.tool.name, offered])),
    showsReasoning: readReasoning(body).isShown,
    sealsReasoning: readArray(body.include).includes(SEALED),
  };
}
