import { GatewayError } from "../errors.ts";
import type { Form, FormFormat } from "../wire/form.ts";
import type { PrintOptions } from "../wire/format.ts";
import type { RequestHead } from "../wire/model-request.ts";
import { createWorkerQueue, type WorkerQueue } from "../workers/worker-queue.ts";
import type { Body, NewBody } from "./body.ts";
import { bufferOf, deserializeError, IDLE_MS, JOB_MS_MAX, type SerializedError } from "./body-jobs.ts";

/** A form to read, or a file whose play time is counted. Both are transferred to the worker. */
export type FormJob =
  | { readonly kind: "read"; readonly blocks: readonly Uint8Array[] }
  | { readonly kind: "measure"; readonly bytes: Uint8Array<ArrayBuffer> };

/** A form that was read: its fields, and its file with name, type and bytes. */
export interface ReadForm {
  readonly form: Form;
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type FormResult =
  | { readonly form: ReadForm }
  /** The bytes are sent back with their play time. */
  | { readonly seconds: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly error: SerializedError };

type FormQueue = WorkerQueue<FormJob, FormResult>;

const NAME_CHARS_MAX = 255;
const PLAIN_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;
const UNKNOWN_TYPE = "application/octet-stream";

/** Reads forms in a worker, so that neither a large file nor a hostile one holds the event loop. */
export interface Forms {
  /** Rejects with `wrong_shape`, and with the errors of the format. */
  read(body: NewBody, format: FormFormat): Promise<Body>;
  close(): void;
}

export function createForms(): Forms {
  const queue: FormQueue = createWorkerQueue({
    name: "form worker",
    script: new URL("./form-worker.ts", import.meta.url),
    jobMsMax: JOB_MS_MAX,
    idleMs: IDLE_MS,
    buffersOf: (job) => (job.kind === "read" ? job.blocks.map(bufferOf) : [bufferOf(job.bytes)]),
  });
  return {
    async read({ owner, blocks }, format) {
      const done = await queue.run(owner, { kind: "read", blocks });
      if ("error" in done) throw deserializeError(done.error);
      if (!("form" in done)) throw new Error("The form worker did not read the form");
      return new FormBody({ format, owner, queue }, done.form);
    },
    close: queue.close,
  };
}

interface FormParts {
  readonly format: FormFormat;
  /** The account. Files of different owners are measured in turns. */
  readonly owner: string;
  readonly queue: FormQueue;
}

/** The form of one request. It is printed anew for each attempt, with a boundary of its own. */
class FormBody implements Body {
  readonly request: RequestHead;
  readonly contentType: string;
  readonly #parts: FormParts;
  /** Its bytes are in the worker while they are measured. */
  #read: ReadForm;
  readonly #boundary = `tollgate-${crypto.randomUUID()}`;

  constructor(parts: FormParts, read: ReadForm) {
    this.request = parts.format.readForm(read.form);
    this.contentType = `multipart/form-data; boundary=${this.#boundary}`;
    this.#parts = parts;
    this.#read = read;
  }

  async measure(): Promise<RequestHead> {
    const { format, owner, queue } = this.#parts;
    const { form } = this.#read;
    const done = await queue.run(owner, { kind: "measure", bytes: this.#read.bytes });
    if ("error" in done) throw deserializeError(done.error);
    if (!("seconds" in done)) throw new Error("The form worker did not measure the file");
    const { seconds, bytes } = done;
    this.#read = { ...this.#read, bytes };
    return format.readForm({ ...form, file: { ...form.file, seconds } });
  }

  /** No provider caches the prompt of a form. */
  beginning(): undefined {
    return undefined;
  }

  /** Forms are never translated. */
  plan(): never {
    throw new GatewayError("not_built");
  }

  print(_: unknown, { model }: PrintOptions): readonly Uint8Array[] {
    const { form, name, type, bytes } = this.#read;
    const fields = form.fields.map((field) => ({
      name: field.name,
      value: field.name === "model" ? model : field.value,
    }));
    const head = `${fields.map((field) => this.#printField(field)).join("")}${this.#printFileHead(name, type)}`;
    const end = `\r\n--${this.#boundary}--\r\n`;
    return [Buffer.from(head), bytes, Buffer.from(end)];
  }

  /** Forms are never counted at an upstream. */
  printCount(): never {
    throw new GatewayError("not_built");
  }

  promptText(): string {
    return this.#parts.format.promptText(this.#read.form);
  }

  #printField({ name, value }: { readonly name: string; readonly value: string }): string {
    return `${this.#printDisposition(name)}\r\n\r\n${value}\r\n`;
  }

  #printFileHead(name: string, type: string): string {
    const fileName = escapeName(name.slice(-NAME_CHARS_MAX) || "file");
    const contentType = PLAIN_TYPE.test(type) ? type : UNKNOWN_TYPE;
    return `${this.#printDisposition("file")}; filename="${fileName}"\r\ncontent-type: ${contentType}\r\n\r\n`;
  }

  #printDisposition(name: string): string {
    return `--${this.#boundary}\r\ncontent-disposition: form-data; name="${escapeName(name)}"`;
  }
}

/** @see https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
function escapeName(name: string): string {
  return name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
