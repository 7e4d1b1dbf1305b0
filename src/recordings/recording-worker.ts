import { parentPort } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { seal } from "../db/sealing.ts";
import { joinBlocks } from "../domain/byte-blocks.ts";
import { platform } from "../platform.ts";
import { assembleStream } from "./assemble.ts";
import type { KeptBody, RecordingContent } from "./recording.ts";
import { type RedactionRules, Redactor } from "./redact.ts";

/** A settled request whose bodies are redacted, packed and encrypted. */
export interface RecordingJob {
  readonly surface: string;
  readonly outcome: string;
  readonly isForm: boolean;
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly requestBytes: number;
  readonly answer: string;
  readonly answerChars: number;
  readonly isAnswerCut: boolean;
  readonly rules: RedactionRules;
  readonly dataKey: Uint8Array;
}

/** The encrypted recording; `undefined` for one that could not be made. */
export interface RecordingResult {
  readonly sealed: string | undefined;
  /** How long it took, in milliseconds. */
  readonly ms: number;
}

/** Characters that are kept of each body. */
const TEXT_CHARS_MAX = 256 * 1024;
const MEDIA_CHARS_MAX = 1024 * 1024;
/** The first line of a form. */
const FIRST_LINE = /^--([\w'()+,./:=?-]{1,70})\r\n/;
const FIRST_LINE_BYTES_MAX = 74;

parentPort?.on("message", async (job: RecordingJob) => {
  parentPort?.postMessage(await perform(job));
});

async function perform(job: RecordingJob): Promise<RecordingResult> {
  const beganAt = platform.monotonicMs();
  const end = (sealed: string | undefined) => ({ sealed, ms: platform.monotonicMs() - beganAt });
  try {
    const content = await readContent(job);
    return end(seal(job.dataKey, gzipSync(JSON.stringify(content))));
  } catch {
    // What was sent is not logged: readers of logs must not see it.
    return end(undefined);
  }
}

async function readContent(job: RecordingJob): Promise<RecordingContent> {
  const redactor = new Redactor(job.rules);
  const charsMax = job.rules.keepsMedia ? MEDIA_CHARS_MAX : TEXT_CHARS_MAX;
  const sent = job.isForm ? await printForm(job) : new TextDecoder().decode(joinBlocks(job.blocks));
  const keptBytes = job.blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const request = redactor.redactJson(sent, charsMax);
  const { surface, outcome } = job;
  return {
    surface,
    outcome,
    request: {
      text: request.text,
      length: job.requestBytes,
      isCut: request.isCut || keptBytes < job.requestBytes,
    },
    answer: readAnswer(job, redactor, charsMax),
    redacted: redactor.count,
  };
}

/**
 * Members that spell a text out, token by token or word by word: no rule finds what is split between two of them. Those
 * of transcripts have times as well.
 */
const SPELLED = ["logprobs", "logprobsResult", "words", "segments"];
const HAS_SPELLED = /"(?:logprobs(?:Result)?|words|segments)"\s*:\s*[[{]\s*[^\s\]}]/;

function withoutSpelled(name: string, value: unknown): unknown {
  return SPELLED.includes(name) && typeof value === "object" ? null : value;
}

/** Returns a whole answer without them; `undefined` for one that has some and cannot be read. */
function readWhole(answer: string): string | undefined {
  if (!HAS_SPELLED.test(answer)) return answer;
  try {
    return JSON.stringify(JSON.parse(answer), withoutSpelled);
  } catch {
    return undefined;
  }
}

function readAnswer(
  { surface, answer, answerChars, isAnswerCut }: RecordingJob,
  redactor: Redactor,
  charsMax: number,
): KeptBody | undefined {
  const isWhole = answer === "" || /^\s*[[{"]/.test(answer);
  const sent = isWhole ? readWhole(answer) : JSON.stringify(assembleStream(surface, answer), withoutSpelled);
  if (sent === undefined) return undefined;
  const { text, isCut } = redactor.redactJson(sent, charsMax);
  return { text, length: answerChars, isCut: isCut || isAnswerCut };
}

/** Prints the fields of a form as JSON. A file is never kept: its name, type and length stand for it. */
async function printForm({ blocks, requestBytes }: RecordingJob): Promise<string> {
  const bytes = joinBlocks(blocks);
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, FIRST_LINE_BYTES_MAX));
  const boundary = FIRST_LINE.exec(head)?.[1];
  const isWhole = bytes.byteLength === requestBytes;
  if (boundary === undefined || !isWhole) return JSON.stringify({ form: `[${requestBytes} bytes]` });
  const headers = { "content-type": `multipart/form-data; boundary="${boundary}"` };
  const form = await new Response(bytes, { headers }).formData();
  const fields = [...form].map(([name, value]) => [
    name,
    typeof value === "string" ? value : `[${value.name}, ${value.type}, ${value.size} bytes]`,
  ]);
  return JSON.stringify(Object.fromEntries(fields));
}
