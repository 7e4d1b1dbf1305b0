/** A whole body, or a stream of events. */
export type CallKind = "whole" | "stream";

/** A call of an upstream, as the gateway makes it. */
export interface ClientCall {
  readonly kind: CallKind;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** An answer whose body is read one way or the other, once. */
export interface ClientAnswer {
  readonly status: number;
  text(): Promise<string>;
  /** Reads to the end, a piece at a time as it comes. */
  read(onPiece: (bytes: Uint8Array) => void): Promise<void>;
}

/** What could carry the gateway's calls. Rejects when a connection fails or breaks off. */
export type Client = (call: ClientCall) => Promise<ClientAnswer>;

/** The same from every client: what the gateway itself sends. */
export function headersOf({ kind, body }: ClientCall): Record<string, string> {
  return {
    authorization: "Bearer bench",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    accept: kind === "stream" ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
  };
}
