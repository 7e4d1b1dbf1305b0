import { type JsonMeasure, measureJson } from "./json/scan.ts";

/** A value as a token of letters, digits, _ and -. */
export function printBase64Json(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** The value in such a token; `undefined` for any other text, and for more members or values than `most`. */
export function readBase64Json(token: string, most: JsonMeasure): unknown {
  const text = Buffer.from(token, "base64url").toString();
  if (measureJson(text, most) === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
