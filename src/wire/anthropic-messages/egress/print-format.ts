import type { JsonSchema, OutputFormat, TextPart } from "../../../domain/chat-request.ts";
import { isOpenSchema } from "./open-schema.ts";
import { acceptSchema } from "./strict-schema.ts";

/** How the model learns of the form of its answer: it is held to a schema, or told what is wanted. */
interface PrintedFormat {
  readonly schema: JsonSchema | undefined;
  readonly told: TextPart | undefined;
}

const JSON_ONLY = "Answer with a single JSON object and nothing else: no other text and no code fence.";

/** The form of the answer. A schema that the model cannot be held to without changing it is told as it is. */
export function printFormat(format: OutputFormat | undefined): PrintedFormat {
  if (format === undefined) return { schema: undefined, told: undefined };
  if (format.kind === "json") return { schema: undefined, told: textOf(JSON_ONLY) };
  const { schema, description } = format;
  const described = description === undefined ? schema : { description, ...schema };
  if (!isOpenSchema(schema)) return { schema: acceptSchema(described), told: undefined };
  const rule = `It follows this JSON schema:\n\n${JSON.stringify(described)}`;
  return { schema: undefined, told: textOf(`${JSON_ONLY} ${rule}`) };
}

function textOf(text: string): TextPart {
  return { kind: "text", text, cache: undefined };
}
