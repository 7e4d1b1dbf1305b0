import { isJsonObject, isSet, type JsonObject, readArray } from "../json/read.ts";
import { isReference } from "./items.ts";

/** Fields that bring in what an upstream has stored under the operator's key, whoever of its users it came from. */
const STORED_FIELDS = ["previous_response_id", "conversation"];

/**
 * The path of the first thing in a body that only an upstream's store could bring in: an earlier answer, an item, or a
 * container with somebody's files.
 *
 * @see https://developers.openai.com/api/docs/guides/tools-code-interpreter
 */
export function findStored(body: JsonObject, items: readonly JsonObject[]): string | undefined {
  const field = STORED_FIELDS.find((each) => isSet(body[each]));
  if (field !== undefined) return field;
  const reference = items.findIndex(isReference);
  if (reference >= 0) return `input[${reference}]`;
  const container = findContainer(body.tools, "tools");
  if (container !== undefined) return container;
  for (const [position, { tools }] of items.entries()) {
    const found = tools === undefined ? undefined : findContainer(tools, `input[${position}].tools`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findContainer(tools: unknown, path: string): string | undefined {
  for (const [position, tool] of readArray(tools).entries()) {
    if (!isJsonObject(tool)) continue;
    const { container, environment } = tool;
    if (typeof container === "string") return `${path}[${position}].container`;
    if (isJsonObject(environment) && isSet(environment.container_id)) {
      return `${path}[${position}].environment.container_id`;
    }
  }
  return undefined;
}
