import type { Asked, AskedTool } from "../../codecs.ts";
import { type JsonObject, readArray } from "../../json/read.ts";
import { requireItems } from "../items.ts";
import { printRepeated } from "../repeated.ts";
import { type OfferedTool, readOffer } from "./read-tools.ts";

const SEALED = "reasoning.encrypted_content";

/** What holds where nothing is known of a request. */
export const NOTHING_ASKED: Asked = {
  repeated: printRepeated({}),
  tools: new Map(),
  sealsReasoning: false,
};

/** Reads what a response repeats of a body that has been found to be in order. */
export function readAsked(body: JsonObject): Asked {
  const offered = new Map(readOffer(body, requireItems(body)).map((each) => [each.tool.name, each]));
  const special = [...offered.values()].filter(isSpecial);
  return {
    repeated: printRepeated(body),
    tools: new Map(special.map(askedTool)),
    sealsReasoning: readArray(body.include).includes(SEALED),
  };
}

function askedTool({ name, namespace, tool }: OfferedTool): [string, AskedTool] {
  return [tool.name, { name, namespace, isFreeForm: tool.isFreeForm }];
}

/** Whether a call of it looks otherwise to the client than that of a function under its one name. */
function isSpecial({ namespace, tool }: OfferedTool): boolean {
  return namespace !== undefined || tool.isFreeForm;
}
