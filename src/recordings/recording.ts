import type { RecordingRules } from "../domain/recording-rules.ts";

/** A request whose bodies may be kept. */
export interface RecordedRequest {
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly rules: RecordingRules;
  /** The format of body and answer, such as "chat". */
  readonly surface: string;
  /** Whether the body is a form with files instead of JSON. */
  readonly isForm: boolean;
  /** The body as the client sent it. It is copied: its blocks may move to another thread. */
  readonly blocks: readonly Uint8Array[];
}

/** What a running request keeps of its bodies. Disposed at its end: what is settled by then is written later. */
export interface Recording extends Disposable {
  readonly expiresAtMs: number;
  /** Adds text that the client was sent. */
  addText(text: string): void;
  /** Adds bytes of a file that the client was sent. They are counted, not kept. */
  addFile(contentType: string, bytes: number): void;
  /** Says how the request ended, once it is settled. Bodies of other requests are dropped. */
  settled(outcome: string): void;
}

/** Keeps the bodies of requests. Never throws, and never lets a request wait. */
export interface Recorder {
  /** `undefined` where the bodies of this request are not kept. */
  begin(request: RecordedRequest): Recording | undefined;
}

/** One of the two bodies of a request, as it is kept. */
export interface KeptBody {
  readonly text: string;
  /** Its length as sent, in bytes of a request and in characters of an answer. */
  readonly length: number;
  readonly isCut: boolean;
}

/** What a recording holds, once it is decrypted. */
export interface RecordingContent {
  readonly surface: string;
  /** The outcome of the request, as its receipt names it. */
  readonly outcome: string;
  readonly request: KeptBody;
  /** A streamed answer is put together from its events; `undefined` for one that cannot be. */
  readonly answer: KeptBody | undefined;
  /** How many pieces were redacted. */
  readonly redacted: number;
}
