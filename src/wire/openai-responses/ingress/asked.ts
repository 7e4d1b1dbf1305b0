import { type JsonObject, readArray } from "../../json/read.ts";
import type { EchoedFields, EchoedTool } from "../../model-request.ts";
import { requireItems } from "../items.ts";
import { printRepeated } from "../repeated.ts";
import { type OfferedTool, readOffer } from "./read-tools.ts";

const SEALED = "reasoning.encrypted_content";

/** What holds where nothing is known of a request. */
export const NOTHING_ECHOED: EchoedFields = {
  repeated: printRepeated({}),
  tools: new Map(),
  includesEncryptedReasoning: false,
};

/** Reads what a response repeats of a body that has been found to be in order. */
export function readEchoedFields(body: JsonObject): EchoedFields {
  const offered = new Map(readOffer(body, requireItems(body)).map((each) => [each.tool.name, each]));
  const special = [...offered.values()].filter(isSpecial);
  return {
    repeated: printRepeated(body),
    tools: new Map(special.map(askedTool)),
    includesEncryptedReasoning: readArray(body.include).includes(SEALED),
  };
}

function askedTool({ name, namespace, tool }: OfferedTool): [string, EchoedTool] {
  return [tool.name, { name, namespace, isFreeForm: tool.isFreeForm }];
}

/** Whether a call of it looks otherwise to the client than that of a function under its one name. */
function isSpecial({ namespace, tool }: OfferedTool): boolean {
  return namespace !== undefined || tool.isFreeForm;
}
