/** One complete HTTP/1.1 request. Header names are lower case; of repeated headers the last one counts. */
export interface ReadRequest {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Head {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly bodyStart: number;
}

/** Parses the bytes of one connection. `push` returns every request that is complete. */
export function createRequestReader(): { push(bytes: Uint8Array): ReadRequest[] } {
  let chunks: Uint8Array[] = [];
  let size = 0;
  // The size at which the next request can be complete. Avoids parsing a large body again for each chunk.
  let wanted = 0;
  return {
    push(bytes) {
      chunks.push(bytes);
      size += bytes.length;
      if (size < wanted) return [];
      let pending: Buffer = Buffer.concat(chunks);
      const requests: ReadRequest[] = [];
      for (let next = takeRequest(pending); next; next = takeRequest(pending)) {
        requests.push(next.request);
        pending = next.rest;
      }
      chunks = [pending];
      size = pending.length;
      wanted = lengthOf(pending);
      return requests;
    },
  };
}

function lengthOf(bytes: Buffer): number {
  const head = readHead(bytes);
  return head ? head.bodyStart + Number(head.headers["content-length"] ?? 0) : 0;
}

function takeRequest(bytes: Buffer): { request: ReadRequest; rest: Buffer } | undefined {
  const head = readHead(bytes);
  if (!head) return undefined;
  const { method, target, headers, bodyStart } = head;
  const after = bytes.subarray(bodyStart);
  const taken = /chunked/i.test(headers["transfer-encoding"] ?? "")
    ? takeChunks(after)
    : takeLength(after, Number(headers["content-length"] ?? 0));
  return taken && { request: { method, target, headers, body: taken.body }, rest: taken.rest };
}

function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [requestLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const [method = "", target = ""] = requestLine.split(" ");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { method, target, headers, bodyStart: end + 4 };
}

function takeLength(bytes: Buffer, length: number): { body: Buffer; rest: Buffer } | undefined {
  if (bytes.length < length) return undefined;
  return { body: bytes.subarray(0, length), rest: bytes.subarray(length) };
}

function takeChunks(bytes: Buffer): { body: Buffer; rest: Buffer } | undefined {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    at = start + size + 2;
    if (size === 0) return { body: Buffer.concat(chunks), rest: bytes.subarray(at) };
    chunks.push(bytes.subarray(start, start + size));
  }
}
