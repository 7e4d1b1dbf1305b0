import { isJsonObject, isSet, type JsonObject, readArray } from "../json/read.ts";
import { isReference } from "./items.ts";

/** Fields that refer to data stored for the operator's account, which may belong to another user. */
const STORED_FIELDS = ["previous_response_id", "conversation"];

/**
 * Returns the path of the first reference to stored data: an earlier answer, an item, or a container with
 * files. Returns `undefined` when there is none.
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
