import { connect, type Socket } from "node:net";

/** The HTTP response on a raw connection. */
export interface RawAnswer {
  readonly status: number;
  /** Names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The code of the socket error that ended the connection, such as "ECONNRESET". */
  readonly fault: string | undefined;
}

/**
 * Sends bytes piece by piece on a new connection and reads until the response is complete. Continues to send
 * after a response arrives, as real clients do during an upload.
 */
export async function sendRaw(
  url: string,
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  const received: Buffer[] = [];
  let fault: string | undefined;
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  const { promise: complete, resolve: finish } = Promise.withResolvers<void>();
  socket.on("data", (bytes) => {
    received.push(Buffer.from(bytes));
    if (isComplete(Buffer.concat(received))) finish();
  });
  socket.on("error", (error) => {
    fault = "code" in error ? String(error.code) : error.message;
  });
  socket.on("close", () => close());
  await sendAll(socket, closed, pieces);
  await Promise.race([complete, closed, Bun.sleep(120_000)]);
  socket.destroy();
  return { ...parse(Buffer.concat(received)), fault };
}

async function sendAll(
  socket: Socket,
  closed: Promise<void>,
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<void> {
  for await (const piece of pieces) {
    if (socket.destroyed) return;
    if (socket.write(piece)) continue;
    const { promise: drained, resolve } = Promise.withResolvers<void>();
    socket.once("drain", () => resolve());
    await Promise.race([drained, closed]);
  }
}

function isComplete(bytes: Buffer): boolean {
  const { status, headers, body } = parse(bytes);
  if (status === 0) return false;
  if (headers["transfer-encoding"] === "chunked") return body.endsWith("0\r\n\r\n");
  return Buffer.byteLength(body, "latin1") >= Number(headers["content-length"] ?? 0);
}

function parse(bytes: Buffer): Omit<RawAnswer, "fault"> {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return { status: 0, headers: {}, body: "" };
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: bytes.toString("latin1", end + 4) };
}
