import type { RequestHead } from "./model-request.ts";
import { reject } from "./request-body.ts";

/** A form with files, `multipart/form-data`. Plain data that can be sent between threads. */
export interface Form {
  /** In the order of the client; names may repeat. */
  readonly fields: readonly FormField[];
  /** In the order of the client; at least one. */
  readonly files: readonly FormFile[];
}

export interface FormField {
  readonly name: string;
  readonly value: string;
}

/** What is known of a file of a form. Its bytes, its own name and its type are apart: no price depends on these. */
export interface FormFile {
  /** The name of its field. */
  readonly field: string;
  readonly bytes: number;
  /** The play time that was counted from the bytes; `undefined` until then. */
  readonly seconds?: number | undefined;
}

/** A format whose request bodies are forms with files instead of JSON. */
export interface FormFormat {
  /** Checks a form. Throws `wrong_shape`, `unpriced_field` or `not_built`. */
  readForm(form: Form): RequestHead;
  /** Returns the text that a model reads beside the files. */
  promptText(form: Form): string;
  /** Whether the play time of its only file is counted from the bytes before the hold. */
  readonly countsPlayTime?: boolean;
  /** Whether an upstream is sent a field of a request. Default: every field. */
  isSent?(field: FormField, request: RequestHead): boolean;
}

/** Returns the value of a field that may occur once; `undefined` when omitted. Throws `wrong_shape`. */
export function readField({ fields }: Form, name: string): string | undefined {
  const [found, repeated] = fields.filter((field) => field.name === name);
  if (repeated) reject(name);
  return found?.value;
}

/**
 * Returns the name that parsers of forms may read a field as: some ignore case, spaces and control characters, and
 * take brackets for a list. A field whose name differs from it may set what was not checked.
 */
export function foldedName(name: string): string {
  return /[a-z\d_-]+/.exec(name.toLowerCase())?.[0] ?? "";
}

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** Returns a field that is "true" or "false"; false when omitted. Throws `wrong_shape`. */
export function readFormFlag(form: Form, name: string): boolean {
  return FLAGS[readField(form, name) ?? "false"] ?? reject(name);
}
