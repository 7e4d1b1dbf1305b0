import { type Answer, createResponseParser } from "./response-parser.ts";

/** Where requests go, and what each of them is: the bytes are the same every time. */
export interface Target {
  readonly url: string;
  /** Sent as a bearer token; "" for none. */
  readonly secret: string;
}

export interface ConnectionEvents {
  onFirstBody?(): void;
  onAnswer(answer: Answer): void;
  /** The connection broke while an answer was due. */
  onBroken(reason: string): void;
}

/** A keep-alive connection that has at most one request under way. */
export interface Connection {
  send(request: Uint8Array, options: { keepBody: boolean }): void;
  close(): void;
}

/** Opens a connection on a raw socket, which costs a fraction of what fetch does. */
export async function openConnection(url: string, events: ConnectionEvents): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let isDue = false;
  let isClosed = false;

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
      close: () => breakOff("The connection was closed before the answer was complete"),
      error: (_open, error) => breakOff(error.message),
    },
  });
  socket.setNoDelay(true);

  return {
    send(request, { keepBody }) {
      isDue = true;
      parser.keepBody = keepBody;
      // A request is far smaller than a socket's buffer, and the last one has been answered.
      if (isClosed || socket.write(request) !== request.length) {
        isClosed = false;
        breakOff("A request could not be written");
      }
    },
    close() {
      isDue = false;
      socket.end();
    },
  };
}

/** The bytes of one request, of a chat unless told otherwise. */
export function printRequest(
  { url, secret }: Target,
  body: string,
  path = "/v1/chat/completions",
): Uint8Array {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${new URL(url).host}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    ...(secret === "" ? [] : [`authorization: Bearer ${secret}`]),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`);
}
