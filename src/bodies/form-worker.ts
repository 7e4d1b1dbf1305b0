import { parentPort } from "node:worker_threads";
import { joinBlocks } from "../domain/byte-blocks.ts";
import { GatewayError } from "../errors.ts";
import type { FormField, FormFile } from "../wire/form.ts";
import { bufferOf, serializeError } from "./body-jobs.ts";
import type { FileContent, FormJob, FormResult, ReadForm } from "./form-body.ts";
import { readPlayTime } from "./play-time/read-play-time.ts";

const FIELDS_MAX = 100;
/** 16 images and a mask, which is more than any other form has. */
const FILES_MAX = 17;
/** The first line of a form. No known client sends text before it. */
const FIRST_LINE = /^--([\w'()+,./:=?-]{1,70})\r\n/;
const FIRST_LINE_BYTES_MAX = 74;

parentPort?.on("message", async (job: FormJob) => {
  const done = await perform(job);
  parentPort?.postMessage(done, buffersOf(done));
});

async function perform(job: FormJob): Promise<FormResult> {
  if (job.kind === "measure") return { seconds: readPlayTime(job.bytes), bytes: job.bytes };
  try {
    return { form: await readForm(joinBlocks(job.blocks)) };
  } catch (thrown) {
    return { error: serializeError(thrown) };
  }
}

function buffersOf(done: FormResult): ArrayBuffer[] {
  if ("error" in done) return [];
  return "form" in done ? done.form.contents.map(({ bytes }) => bufferOf(bytes)) : [bufferOf(done.bytes)];
}

/** Reads a form with files. Throws `wrong_shape` for anything else, and above 100 fields or 17 files. */
async function readForm(body: Uint8Array<ArrayBuffer>): Promise<ReadForm> {
  const fields: FormField[] = [];
  const files: FormFile[] = [];
  const contents: FileContent[] = [];
  for (const [name, value] of await parse(body)) {
    if (typeof value === "string") fields.push({ name, value });
    else {
      const bytes = await value.bytes();
      files.push({ field: name, bytes: bytes.byteLength });
      contents.push({ name: value.name, type: value.type, bytes });
    }
    if (fields.length > FIELDS_MAX || files.length > FILES_MAX) throw new GatewayError("wrong_shape");
  }
  return { form: { fields, files }, contents };
}

async function parse(body: Uint8Array<ArrayBuffer>): Promise<FormData> {
  const head = new TextDecoder("latin1").decode(body.subarray(0, FIRST_LINE_BYTES_MAX));
  const boundary = FIRST_LINE.exec(head)?.[1];
  if (boundary === undefined || hasTooManyParts(body, boundary)) throw new GatewayError("wrong_shape");
  const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
  try {
    return await new Response(body, { headers }).formData();
  } catch (reason) {
    throw new GatewayError("wrong_shape", { reason });
  }
}

/** Whether a form has more parts than fields and files may be. Reading half a million would take a second. */
function hasTooManyParts(body: Uint8Array<ArrayBuffer>, boundary: string): boolean {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  let at = 0;
  for (let parts = 0; parts <= FIELDS_MAX + FILES_MAX; parts += 1) {
    at = text.indexOf(delimiter, at);
    if (at < 0) return false;
    at += delimiter.length;
  }
  return true;
}
