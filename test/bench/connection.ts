/** The address and the key of requests. */
export interface Target {
  readonly url: string;
  /** Sent as a bearer token; "" for none. */
  readonly secret: string;
  /** Default: the path of chat completions. */
  readonly path?: string;
  /** Headers beside those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ConnectionEvents {
  onFirstBody?(): void;
  onAnswer(answer: Answer): void;
  /** Called when the connection breaks while an answer is pending. */
  onBroken(reason: string): void;
}

/** A keep-alive connection with at most one running request. */
export interface Connection {
  send(request: Uint8Array, options: { keepBody: boolean }): void;
  close(): void;
}

/** Opens a connection on a raw socket, which costs a fraction of fetch. */
export async function openConnection(url: string, events: ConnectionEvents): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let isDue = false;
  let isClosed = false;
  let unsent: Uint8Array | undefined;

  const parser = createResponseParser({
    onFirstBody: () => events.onFirstBody?.(),
    onEnd(answer) {
      isDue = false;
      events.onAnswer(answer);
    },
  });

  function breakOff(reason: string): void {
    if (isClosed) return;
    isClosed = true;
    if (isDue) events.onBroken(reason);
  }

  function write(open: Bun.Socket, bytes: Uint8Array): void {
    const written = open.write(bytes);
    unsent = written < bytes.length ? bytes.subarray(Math.max(0, written)) : undefined;
    if (!isClosed && written >= 0) return;
    isClosed = false;
    breakOff("A request could not be written");
  }

  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(open, bytes) {
        try {
          parser.read(bytes);
        } catch (error) {
          breakOff(error instanceof Error ? error.message : "An answer cannot be read");
          open.terminate();
        }
      },
      drain: (open) => unsent && write(open, unsent),
      close: () => breakOff("The connection was closed before the answer was complete"),
      error: (_open, error) => breakOff(error.message),
    },
  });
  socket.setNoDelay(true);

  return {
    send(request, { keepBody }) {
      isDue = true;
      parser.keepBody = keepBody;
      write(socket, request);
    },
    close() {
      isDue = false;
      socket.end();
    },
  };
}

/** Encodes one request. */
export function printRequest(
  { url, secret, path = "/v1/chat/completions", headers = {} }: Target,
  body: string,
): Uint8Array {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...(secret === "" ? [] : [`authorization: Bearer ${secret}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** The parts of an answer that the benchmark uses. */
export interface Answer {
  readonly status: number;
  /** "" unless the body was kept. */
  readonly body: string;
}

export interface ResponseParser {
  /** Parses bytes of a connection. Throws unless they are HTTP/1.1 answers with a length or chunks. */
  read(bytes: Buffer): void;
  /** Whether the body of the next answer is kept. */
  keepBody: boolean;
}

export interface ResponseEvents {
  onFirstBody(): void;
  onEnd(answer: Answer): void;
}

type Place = "head" | "length" | "chunk_size" | "chunk" | "trailer";

const CRLF = 2;

/**
 * Parses answers with as little work as possible, so that the load generator is not what is measured. Bodies
 * are skipped by their length.
 */
export function createResponseParser({ onFirstBody, onEnd }: ResponseEvents): ResponseParser {
  let place: Place = "head";
  let rest: Buffer | undefined;
  let left = 0;
  let status = 0;
  let kept: string[] = [];
  let hasBody = false;

  function readHead(bytes: Buffer, from: number): number {
    const end = bytes.indexOf("\r\n\r\n", from);
    if (end < 0) return -1;
    const head = bytes.toString("latin1", from, end).toLowerCase();
    status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    if (length === undefined && !head.includes("\r\ntransfer-encoding: chunked")) {
      throw new Error(`An answer with status ${status} has neither a length nor chunks`);
    }
    left = Number(length ?? 0);
    place = length === undefined ? "chunk_size" : "length";
    const next = end + 2 * CRLF;
    if (place === "length" && left === 0) finish();
    return next;
  }

  /** Skips body bytes. Each chunk is followed by a line end. */
  function readBody(bytes: Buffer, from: number): number {
    const end = Math.min(from + left, bytes.length);
    left -= end - from;
    if (!hasBody) onFirstBody();
    hasBody = true;
    if (parser.keepBody) kept.push(bytes.toString("latin1", from, end));
    if (left > 0) return end;
    if (place === "length") finish();
    else place = "trailer";
    return end;
  }

  function readChunkSize(bytes: Buffer, from: number): number {
    const end = bytes.indexOf("\r\n", from);
    if (end < 0) return -1;
    const size = Number.parseInt(bytes.toString("latin1", from, end), 16);
    if (!(size >= 0)) throw new Error("A chunk has no size");
    left = size;
    place = size === 0 ? "trailer" : "chunk";
    if (size === 0) left = -1;
    return end + CRLF;
  }

  /** Parses the line end after a chunk, and after the last chunk of size 0. */
  function readLineEnd(bytes: Buffer, from: number): number {
    if (from + CRLF > bytes.length) return -1;
    if (bytes[from] !== 13 || bytes[from + 1] !== 10) throw new Error("A chunk is longer than its size");
    if (left < 0) finish();
    else place = "chunk_size";
    return from + CRLF;
  }

  function finish(): void {
    const answer = { status, body: kept.join("") };
    place = "head";
    left = 0;
    hasBody = false;
    if (kept.length > 0) kept = [];
    onEnd(answer);
  }

  function step(bytes: Buffer, from: number): number {
    if (place === "head") return readHead(bytes, from);
    if (place === "chunk_size") return readChunkSize(bytes, from);
    if (place === "trailer") return readLineEnd(bytes, from);
    return readBody(bytes, from);
  }

  const parser: ResponseParser = {
    keepBody: false,
    read(received) {
      const bytes = rest ? Buffer.concat([rest, received]) : received;
      rest = undefined;
      let from = 0;
      while (from < bytes.length) {
        const next = step(bytes, from);
        if (next < 0) {
          rest = bytes.subarray(from);
          return;
        }
        from = next;
      }
    },
  };
  return parser;
}
