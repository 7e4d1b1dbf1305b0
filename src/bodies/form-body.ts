import { GatewayError } from "../errors.ts";
import type { Form, FormField, FormFormat } from "../wire/form.ts";
import type { PrintOptions } from "../wire/format.ts";
import type { RequestHead } from "../wire/model-request.ts";
import { createWorkerQueue, type WorkerQueue } from "../workers/worker-queue.ts";
import type { Body, NewBody } from "./body.ts";
import { bufferOf, deserializeError, IDLE_MS, JOB_MS_MAX, type SerializedError } from "./body-jobs.ts";

/** A form to read, or a file whose play time is counted. Both are transferred to the worker. */
export type FormJob =
  | { readonly kind: "read"; readonly blocks: readonly Uint8Array[] }
  | { readonly kind: "measure"; readonly bytes: Uint8Array<ArrayBuffer> };

/** A form that was read, and the contents of its files in their order. */
export interface ReadForm {
  readonly form: Form;
  readonly contents: readonly FileContent[];
}

/** What a file of a form holds, and what its client calls it. */
export interface FileContent {
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
  readonly measure: (() => Promise<RequestHead>) | undefined;
  readonly #parts: FormParts;
  /** The bytes of its file are in the worker while they are measured. */
  #read: ReadForm;
  readonly #boundary = `tollgate-${crypto.randomUUID()}`;

  constructor(parts: FormParts, read: ReadForm) {
    this.request = parts.format.readForm(read.form);
    this.contentType = `multipart/form-data; boundary=${this.#boundary}`;
    this.#parts = parts;
    this.#read = read;
    this.measure = parts.format.countsPlayTime ? () => this.#measure() : undefined;
  }

  async #measure(): Promise<RequestHead> {
    const { format, owner, queue } = this.#parts;
    const { form, contents } = this.#read;
    const [file] = form.files;
    const [content] = contents;
    if (!file || !content) throw new Error("The form has no file to measure");
    const done = await queue.run(owner, { kind: "measure", bytes: content.bytes });
    if ("error" in done) throw deserializeError(done.error);
    if (!("seconds" in done)) throw new Error("The form worker did not measure the file");
    const { seconds, bytes } = done;
    this.#read = { form, contents: [{ ...content, bytes }] };
    return format.readForm({ ...form, files: [{ ...file, seconds }] });
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
    const { form, contents } = this.#read;
    const { format } = this.#parts;
    const sent = form.fields.filter((field) => format.isSent?.(field, this.request) ?? true);
    // A client may leave out the model, which then has a default.
    const fields = [{ name: "model", value: model }, ...sent.filter(({ name }) => name !== "model")];
    const files = contents.flatMap((content, position) => {
      const head = this.#printFileHead(form.files[position]?.field ?? "file", content);
      return [Buffer.from(head), content.bytes, Buffer.from("\r\n")];
    });
    const head = fields.map((field) => this.#printField(field)).join("");
    return [Buffer.from(head), ...files, Buffer.from(`--${this.#boundary}--\r\n`)];
  }

  /** Forms are never counted at an upstream. */
  printCount(): never {
    throw new GatewayError("not_built");
  }

  promptText(): string {
    return this.#parts.format.promptText(this.#read.form);
  }

  #printField({ name, value }: FormField): string {
    return `${this.#printDisposition(name)}\r\n\r\n${value}\r\n`;
  }

  #printFileHead(field: string, { name, type }: FileContent): string {
    const fileName = escapeName(name.slice(-NAME_CHARS_MAX) || "file");
    const contentType = PLAIN_TYPE.test(type) ? type : UNKNOWN_TYPE;
    return `${this.#printDisposition(field)}; filename="${fileName}"\r\ncontent-type: ${contentType}\r\n\r\n`;
  }

  #printDisposition(name: string): string {
    return `--${this.#boundary}\r\ncontent-disposition: form-data; name="${escapeName(name)}"`;
  }
}

/** @see https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data */
function escapeName(name: string): string {
  return name.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}
