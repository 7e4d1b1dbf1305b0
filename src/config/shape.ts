import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Value, ValuePointer } from "@sinclair/typebox/value";
import type { Path, Problems } from "./problems.ts";
import { type ConfigFile, ConfigFileSchema } from "./schema.ts";

/** A document as far as its shape is right: what is wrong anywhere is `undefined`. */
export type Partly<T> = T extends object ? { readonly [K in keyof T]?: Partly<T[K]> | undefined } : T;

/** Reports all that does not fit the schema and takes it out of the document, so that rules can judge the rest. */
export function checkShape(document: object, problems: Problems): Partly<ConfigFile> {
  readNumbers(document);
  for (const error of [...Value.Errors(ConfigFileSchema, document)]) {
    const path = [...ValuePointer.Format(error.path)];
    problems.add(path, ...describe(error));
    replaceAt(document, path, undefined);
  }
  // Safe because every value that does not fit the schema has just been made undefined.
  return document as Partly<ConfigFile>;
}

/** A number that came from a variable, or in quotes, is text until here. */
function readNumbers(document: object): void {
  for (const { type, value, path } of [...Value.Errors(ConfigFileSchema, document)]) {
    const isDigits = typeof value === "string" && /^\d{1,15}$/.test(value);
    if (type === ValueErrorType.Integer && isDigits) {
      replaceAt(document, [...ValuePointer.Format(path)], Number(value));
    }
  }
}

function describe({ type, schema }: ValueError): [wrong: string, expected: string] {
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    return ["is not a known key", `one of ${Object.keys(schema.properties).join(", ")}`];
  }
  const expected = schema.description ?? "another value";
  return [type === ValueErrorType.ObjectRequiredProperty ? "is missing" : "has a wrong value", expected];
}

/** Touches only what is there: an outer value may be gone already, and `__proto__` is a key like any other. */
function replaceAt(document: object, path: Path, replacement: unknown): void {
  let owner: unknown = document;
  for (const [index, segment] of path.entries()) {
    if (typeof owner !== "object" || owner === null || !Object.hasOwn(owner, segment)) return;
    if (index === path.length - 1) Object.defineProperty(owner, segment, { value: replacement });
    else owner = Object.getOwnPropertyDescriptor(owner, segment)?.value;
  }
}
