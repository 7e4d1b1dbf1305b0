import type { RequestHead } from "./model-request.ts";
import { reject } from "./request-body.ts";

/** A form with one file, `multipart/form-data`. Plain data that can be sent between threads. */
export interface Form {
  /** In the order of the client; names may repeat. */
  readonly fields: readonly FormField[];
  readonly file: FormFile;
}

export interface FormField {
  readonly name: string;
  readonly value: string;
}

/** What is known of a file of a form. Its bytes are apart. */
export interface FormFile {
  readonly bytes: number;
  /** The play time that was counted from the bytes; `undefined` until then. */
  readonly seconds?: number | undefined;
}

/** A format whose request bodies are forms with a file instead of JSON. */
export interface FormFormat {
  /** Checks a form. Throws `wrong_shape` or `not_built`. */
  readForm(form: Form): RequestHead;
  /** Returns the text that a model reads beside the file. */
  promptText(form: Form): string;
}

/** Returns the value of a field that may occur once; `undefined` when omitted. Throws `wrong_shape`. */
export function readField({ fields }: Form, name: string): string | undefined {
  const [found, repeated] = fields.filter((field) => field.name === name);
  if (repeated) reject(name);
  return found?.value;
}
