import type { Caller } from "../accounts/keys/key.ts";
import { printTime } from "../domain/id-time.ts";
import type { Recording } from "../recordings/recording.ts";
import type { Gateway } from "./gateway.ts";
import type { AbortSource, Call, FileReply, Reply } from "./request.ts";

/** Tells the client until when the bodies of its request are kept. */
const HEADER = "x-tollgate-recorded";

/** A body that is not read yet. */
interface ReceivedBody {
  readonly call: Call;
  readonly caller: Caller;
  /** The body as received. */
  readonly blocks: readonly Uint8Array[];
}

/** Begins to keep the bodies of a request; `undefined` unless its key records now and there is room. */
export function beginRecording(
  { recorder }: Gateway,
  { call: { id, wire }, caller: { key }, blocks }: ReceivedBody,
): Recording | undefined {
  if (!recorder || !key.recording) return undefined;
  const { id: keyId, accountId, recording: rules } = key;
  const place = { requestId: id, accountId, keyId, rules };
  return recorder.begin({ ...place, surface: wire.surface, isForm: wire.form !== undefined, blocks });
}

/** Returns a reply whose text is kept as the client is sent it. Says so in a header. */
export function recordReply(reply: Reply, recording: Recording): Reply {
  reply.setHeaders({ [HEADER]: printTime(recording.expiresAtMs) });
  return new RecordedReply(reply, recording);
}

class RecordedReply implements Reply {
  readonly signal: AbortSource;
  readonly openFile?: (contentType: string) => FileReply;
  readonly #reply: Reply;
  readonly #recording: Recording;

  constructor(reply: Reply, recording: Recording) {
    this.signal = reply.signal;
    this.#reply = reply;
    this.#recording = recording;
    if (reply.openFile) this.openFile = (contentType) => this.#openFile(contentType);
  }

  setHeaders(headers: Readonly<Record<string, string>>): void {
    this.#reply.setHeaders(headers);
  }

  expectStream(model: string): void {
    this.#reply.expectStream(model);
  }

  beginStream(): void {
    this.#reply.beginStream();
  }

  write(text: string): Promise<void> | undefined {
    this.#recording.addText(text);
    return this.#reply.write(text);
  }

  end(text: string, contentType?: string): void {
    this.#recording.addText(text);
    this.#reply.end(text, contentType);
  }

  #openFile(contentType: string): FileReply {
    const file = this.#reply.openFile?.(contentType);
    if (!file) throw new Error("The reply cannot be a file");
    const add = (bytes: Uint8Array) => this.#recording.addFile(contentType, bytes.byteLength);
    return {
      write(bytes) {
        add(bytes);
        return file.write(bytes);
      },
      end(bytes) {
        add(bytes);
        file.end(bytes);
      },
    };
  }
}
