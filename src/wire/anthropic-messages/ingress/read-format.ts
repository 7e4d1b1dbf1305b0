import type { OutputFormat } from "../../../domain/chat-request.ts";
import { isTooDeep } from "../../json/bounds.ts";
import { isJsonObject, isSet, type JsonObject } from "../../json/read.ts";
import { reject, rejectUntranslatable } from "../../request-body.ts";

/** Reads the form that the answer shall have, under its present name or its first. */
export function readFormat(body: JsonObject): OutputFormat | undefined {
  const config = isJsonObject(body.output_config) ? body.output_config : {};
  const [format, path] = isSet(config.format)
    ? [config.format, "output_config.format"]
    : [body.output_format, "output_format"];
  if (!isSet(format)) return undefined;
  if (!isJsonObject(format)) reject(path);
  const { type, schema } = format;
  if (type !== "json_schema") rejectUntranslatable(`${path}.type`);
  if (!isJsonObject(schema) || isTooDeep(schema)) reject(`${path}.schema`);
  return { kind: "schema", name: undefined, description: undefined, schema, strict: undefined };
}
