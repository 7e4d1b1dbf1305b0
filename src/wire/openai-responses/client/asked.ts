import { ANSWER_MAX, type JsonObject, parseJsonObject, readArray } from "../../json-read.ts";
import type { ModelRequest } from "../../wire-protocol.ts";
import { requireItems } from "../items.ts";
import { printRepeated } from "../repeated.ts";
import { type OfferedTool, readOffer } from "./read-tools.ts";

/** What an answer must know of the request that it answers. */
export interface Asked {
  /** Members that a response repeats, as JSON without braces. */
  readonly repeated: string;
  /** Tools by their one name. */
  readonly tools: ReadonlyMap<string, OfferedTool>;
  /** Whether reasoning shall come in a form that can be sent back. */
  readonly sealsReasoning: boolean;
}

const SEALED = "reasoning.encrypted_content";

/** Of requests that were read to be translated: to read a large one once more takes longer than all else of its answer. */
const ASKED = new WeakMap<ModelRequest, Asked>();

/** Notes it of a request whose body has been found to be in order. */
export function noteAsked(request: ModelRequest, body: JsonObject): void {
  ASKED.set(request, readAsked(body));
}

/** What was noted of a request, else what its text says. */
export function askedOf(request: ModelRequest): Asked {
  return ASKED.get(request) ?? readAsked(parseJsonObject(request.text, ANSWER_MAX) ?? {});
}

function readAsked(body: JsonObject): Asked {
  const tools = readOffer(body, requireItems(body));
  return {
    repeated: printRepeated(body),
    tools: new Map(tools.map((offered) => [offered.tool.name, offered])),
    sealsReasoning: readArray(body.include).includes(SEALED),
  };
}
