import { parentPort } from "node:worker_threads";
import { joinBlocks } from "../domain/byte-blocks.ts";
import { GatewayError } from "../errors.ts";
import type { FormField } from "../wire/form.ts";
import { reject } from "../wire/request-body.ts";
import { bufferOf, serializeError } from "./body-jobs.ts";
import type { FormJob, FormResult, ReadForm } from "./form-body.ts";

const FIELDS_MAX = 100;
const FILE = "file";
/** The first line of a form. No known client sends text before it. */
const FIRST_LINE = /^--([\w'()+,./:=?-]{1,70})\r\n/;
const FIRST_LINE_BYTES_MAX = 74;

parentPort?.on("message", async (job: FormJob) => {
  const done = await perform(job);
  parentPort?.postMessage(done, "form" in done ? [bufferOf(done.form.bytes)] : []);
});

async function perform({ blocks }: FormJob): Promise<FormResult> {
  try {
    return { form: await readForm(joinBlocks(blocks)) };
  } catch (thrown) {
    return { error: serializeError(thrown) };
  }
}

/** Reads a form with one file. Throws `wrong_shape` for anything else, and above 100 fields. */
async function readForm(body: Uint8Array<ArrayBuffer>): Promise<ReadForm> {
  const fields: FormField[] = [];
  let file: File | undefined;
  for (const [name, value] of await parse(body)) {
    if (typeof value === "string") fields.push({ name, value });
    else if (name !== FILE || file) reject(FILE);
    else file = value;
    if (fields.length > FIELDS_MAX) throw new GatewayError("wrong_shape");
  }
  if (!file) reject(FILE);
  const bytes = await file.bytes();
  const seconds = await readPlayTime(bytes);
  return {
    form: { fields, file: { bytes: bytes.byteLength, seconds } },
    name: file.name,
    type: file.type,
    bytes,
  };
}

async function parse(body: Uint8Array<ArrayBuffer>): Promise<FormData> {
  const head = new TextDecoder("latin1").decode(body.subarray(0, FIRST_LINE_BYTES_MAX));
  const boundary = FIRST_LINE.exec(head)?.[1];
  if (boundary === undefined) throw new GatewayError("wrong_shape");
  const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
  try {
    return await new Response(body, { headers }).formData();
  } catch (reason) {
    throw new GatewayError("wrong_shape", { reason });
  }
}

/** Returns the play time in seconds that the container of an audio file states; `undefined` without one. */
async function readPlayTime(bytes: Uint8Array): Promise<number | undefined> {
  // Loaded at the first form: gateways without such models need no parser of audio.
  const { parseBuffer } = await import("music-metadata");
  try {
    const { format } = await parseBuffer(bytes, undefined, { duration: true, skipCovers: true });
    const { duration } = format;
    return duration !== undefined && Number.isFinite(duration) && duration > 0 ? duration : undefined;
  } catch {
    return undefined;
  }
}
