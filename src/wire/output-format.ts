import type { JsonSchema, OutputFormat, TextPart } from "../domain/chat-request.ts";
import { isOpenSchema, strictSchema } from "./strict-schema.ts";

/** The format of an answer for hosts of Anthropic's schema rules: a schema that the host enforces, or an instruction. */
interface PrintedFormat {
  readonly schema: JsonSchema | undefined;
  readonly instruction: TextPart | undefined;
}

const JSON_ONLY = "Answer with a single JSON object and nothing else: no other text and no code fence.";

/**
 * Prints the format of an answer. A schema becomes an instruction when the host could enforce it only with
 * another meaning, or when it enforces none.
 */
export function printFormat(format: OutputFormat | undefined, enforcesSchemas = true): PrintedFormat {
  if (format === undefined) return { schema: undefined, instruction: undefined };
  if (format.kind === "json") return { schema: undefined, instruction: instructionOf(JSON_ONLY) };
  const { schema, description } = format;
  const described = description === undefined ? schema : { description, ...schema };
  if (enforcesSchemas && !isOpenSchema(schema))
    return { schema: strictSchema(described), instruction: undefined };
  const rule = `It follows this JSON schema:\n\n${JSON.stringify(described)}`;
  return { schema: undefined, instruction: instructionOf(`${JSON_ONLY} ${rule}`) };
}

function instructionOf(text: string): TextPart {
  return { kind: "text", text, cache: undefined };
}
