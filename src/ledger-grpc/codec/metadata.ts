import type * as Proto from "../../gen/messages.ts";
import type { Metadata } from "../../ledger/records.ts";
import { InvalidField } from "./fields.ts";

/**
 * The maximum depth of nested objects and lists, as in the ledger: receivers stop at 100 nested messages, and
 * one level of JSON takes three messages.
 */
const METADATA_DEPTH_MAX = 30;

/**
 * The maximum length of printed metadata: above any that a ledger accepts, and 100 of them fit in a message.
 */
const LENGTH_MAX = 65_536;

/** Above 4 KiB, which every ledger declines. */
const OVERLONG: Proto.Struct = Object.freeze({ fields: { "": { stringValue: "-".repeat(5_000) } } });

/**
 * Encodes the metadata of a request as printed JSON would read. Metadata that cannot be encoded becomes
 * overlong, which is declined.
 */
export function encodeMetadata(metadata: Metadata | undefined): Proto.Struct | undefined {
  if (metadata === undefined) return undefined;
  try {
    return encodeObject(toJson(metadata), METADATA_DEPTH_MAX);
  } catch {
    return OVERLONG;
  }
}

/** Encodes the metadata of a receipt. Throws RangeError when it is nested too deep. */
export function encodeStoredMetadata(metadata: Metadata | undefined): Proto.Struct | undefined {
  // Safe because stored metadata was parsed from JSON.
  return metadata && encodeObject(metadata as JsonObject, METADATA_DEPTH_MAX);
}

/** Decodes metadata in the order of its names. Throws {@link InvalidField} for NaN and infinities. */
export function decodeMetadata(wire: Proto.Struct__Output | null, field = "metadata"): Metadata | undefined {
  return wire ? decodeObject(wire, field) : undefined;
}

type Json = null | boolean | number | string | readonly Json[] | JsonObject;

interface JsonObject {
  readonly [name: string]: Json;
}

function toJson(metadata: Metadata): JsonObject {
  const printed = JSON.stringify(metadata);
  if (printed.length > LENGTH_MAX || !printed.startsWith("{"))
    throw new RangeError("The metadata is too long or no object");
  return JSON.parse(printed);
}

function encodeObject(object: JsonObject, depthLeft: number): Proto.Struct {
  if (depthLeft === 0) throw tooDeep();
  const fields: Record<string, Proto.Value> = {};
  for (const [name, value] of Object.entries(object)) {
    if (name === "__proto__")
      throw new RangeError("Cannot send metadata with the name __proto__: it would be lost");
    fields[name.toWellFormed()] = encodeValue(value, depthLeft - 1);
  }
  return { fields };
}

function encodeValue(value: Json, depthLeft: number): Proto.Value {
  if (value === null) return { nullValue: "NULL_VALUE" };
  if (typeof value === "number") return { numberValue: value };
  if (typeof value === "string") return { stringValue: value.toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (!Array.isArray(value)) {
    // Safe because every other type is handled above.
    return { structValue: encodeObject(value as JsonObject, depthLeft) };
  }
  if (depthLeft === 0) throw tooDeep();
  return { listValue: { values: value.map((each) => encodeValue(each, depthLeft - 1)) } };
}

function decodeObject({ fields }: Proto.Struct__Output, field: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, decodeValue(value, field)]));
}

function decodeValue(value: Proto.Value__Output | undefined, field: string): unknown {
  switch (value?.kind) {
    case "nullValue":
      return null;
    case "structValue":
      return decodeObject(value.structValue ?? { fields: {} }, field);
    case "listValue":
      return (value.listValue?.values ?? []).map((each) => decodeValue(each, field));
    case "numberValue":
      // JSON cannot express NaN and infinities.
      if (!Number.isFinite(value.numberValue)) throw new InvalidField(field, "invalid_metadata");
      return value.numberValue;
    case "boolValue":
      return value.boolValue;
    case "stringValue":
      return value.stringValue;
    default:
      throw new InvalidField(field, "invalid_metadata");
  }
}

function tooDeep(): RangeError {
  return new RangeError(`Cannot send metadata: it is nested deeper than ${METADATA_DEPTH_MAX}`);
}
