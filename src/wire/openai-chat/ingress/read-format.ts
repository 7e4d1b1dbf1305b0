import type { OutputFormat } from "../../../domain/chat-request.ts";
import { isSet, type JsonObject } from "../../json/read.ts";
import { readObject, refuseUntranslatable } from "../../request-body.ts";
import { readOptionalFlag, readOptionalSchema, readOptionalText, requireObject } from "./read-member.ts";

/** The form that the answer must have; `undefined` for plain text. */
export function readFormat(body: JsonObject): OutputFormat | undefined {
  const format = readObject(body, "response_format");
  if (!format || !isSet(format.type) || format.type === "text") return undefined;
  if (format.type === "json_object") return { kind: "json" };
  if (format.type !== "json_schema") refuseUntranslatable("response_format.type");
  const path = "response_format.json_schema";
  const said = requireObject(format, "json_schema", "response_format");
  const schema = readOptionalSchema(said, "schema", path);
  if (schema === undefined) return { kind: "json" };
  return {
    kind: "schema",
    name: readOptionalText(said, "name", path),
    description: readOptionalText(said, "description", path),
    schema,
    strict: readOptionalFlag(said, "strict", path),
  };
}
