import type { MasterKey } from "../db/sealing.ts";
import { bytesOf } from "../domain/byte-blocks.ts";
import { deriveDataKey } from "./open-recording.ts";
import type { RecordedRequest, Recording } from "./recording.ts";
import type { RecordingJob } from "./recording-worker.ts";

/** What is copied of a body before files are taken out of it, which may be most of it. */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/** What is kept of an answer before its events are put together. */
const ANSWER_CHARS_MAX = 2 * 1024 * 1024;
/** Of the memory for all recordings, one account may take a quarter. */
const ACCOUNT_SHARE = 4;

interface RunningParts {
  readonly request: RecordedRequest;
  /** How many bytes of the body are copied. */
  readonly bytes: number;
  readonly master: MasterKey;
  readonly nowMs: number;
  readonly memory: Memory;
  end(recording: RunningRecording): void;
}

/** The recording of a request that runs, and then waits to be written. */
export class RunningRecording implements Recording {
  readonly request: RecordedRequest;
  readonly master: MasterKey;
  readonly beganAtMs: number;
  readonly expiresAtMs: number;
  outcome: string | undefined;
  readonly #parts: RunningParts;
  readonly #requestBytes: number;
  readonly #blocks: readonly Uint8Array<ArrayBuffer>[];
  #answer = "";
  #answerChars = 0;
  #file: { readonly type: string; bytes: number } | undefined;
  #taken: number;
  #isCut = false;

  constructor(parts: RunningParts) {
    const { request, bytes, master, nowMs } = parts;
    this.request = { ...request, blocks: [] };
    this.master = master;
    this.beganAtMs = nowMs;
    this.expiresAtMs = nowMs + request.rules.keptMs;
    this.#parts = parts;
    this.#requestBytes = bytesOf(request.blocks);
    this.#blocks = [copyBytes(request.blocks, bytes)];
    this.#taken = bytes;
  }

  addText(text: string): void {
    this.#answerChars += text.length;
    if (this.#isCut || text === "") return;
    const hasRoom = this.#answer.length + text.length <= ANSWER_CHARS_MAX;
    if (!hasRoom || !this.#parts.memory.tryTake(this.request.accountId, text.length)) {
      this.#isCut = true;
      return;
    }
    this.#taken += text.length;
    this.#answer += text;
  }

  addFile(contentType: string, bytes: number): void {
    this.#file ??= { type: contentType, bytes: 0 };
    this.#file.bytes += bytes;
  }

  settled(outcome: string): void {
    this.outcome = outcome;
  }

  [Symbol.dispose](): void {
    this.#parts.end(this);
  }

  giveBack(): void {
    this.#parts.memory.give(this.request.accountId, this.#taken);
    this.#taken = 0;
  }

  toJob(): RecordingJob {
    const { requestId, accountId, rules, surface, isForm } = this.request;
    const { salt, keepsMedia, patterns, expressions } = rules;
    const file = this.#file;
    return {
      surface,
      isForm,
      outcome: this.outcome ?? "",
      blocks: this.#blocks,
      requestBytes: this.#requestBytes,
      answer: file ? JSON.stringify(`[${file.type}, ${file.bytes} bytes]`) : this.#answer,
      answerChars: file ? file.bytes : this.#answerChars,
      isAnswerCut: this.#isCut,
      rules: { keepsMedia, patterns, expressions },
      dataKey: deriveDataKey(this.master, { accountId, requestId, salt }),
    };
  }
}

function copyBytes(blocks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes);
  let at = 0;
  for (const block of blocks) {
    const part = block.subarray(0, bytes - at);
    copy.set(part, at);
    at += part.byteLength;
  }
  return copy;
}

/** Bounds the memory of recordings, in all and of each account. */
export class Memory {
  readonly #bytesMax: number;
  readonly #byAccount = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  tryTake(accountId: string, bytes: number): boolean {
    const own = (this.#byAccount.get(accountId) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#bytesMax || own > this.#bytesMax / ACCOUNT_SHARE) return false;
    this.#bytes += bytes;
    this.#byAccount.set(accountId, own);
    return true;
  }

  give(accountId: string, bytes: number): void {
    this.#bytes -= bytes;
    const left = (this.#byAccount.get(accountId) ?? 0) - bytes;
    if (left > 0) this.#byAccount.set(accountId, left);
    else this.#byAccount.delete(accountId);
  }
}
