import type { TestGateway } from "./test-gateway.ts";
import { until } from "./until.ts";

/** A frame of the gateway, parsed. */
export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

/** A client of the WebSocket of responses, which keeps every frame. */
export interface SocketClient {
  readonly socket: WebSocket;
  readonly frames: readonly Frame[];
  /** Sends an event; a text is sent as it is. */
  send(event: object | string): void;
  /** Sends a `response.create` with some default members, and returns its frames to the end. */
  create(body?: object): Promise<readonly Frame[]>;
  /** Returns the next frame that no one has taken. */
  next(): Promise<Frame>;
  /** Closes the connection without a farewell. */
  drop(): void;
  /** The code with which the connection was closed. */
  readonly closed: Promise<number>;
}

export interface SocketOptions {
  readonly secret?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ENDS = ["response.completed", "response.incomplete", "response.failed", "error"];

/** Connects; rejects when the gateway refuses. */
export async function connectSocket(
  { url, secret: own }: Pick<TestGateway, "url" | "secret">,
  { secret = own, headers = {} }: SocketOptions = {},
): Promise<SocketClient> {
  const options = { headers: { authorization: `Bearer ${secret}`, ...headers } };
  // The cast is safe: Bun's constructor takes options, which the types of the DOM do not declare.
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, options as unknown as string[]);
  const frames: Frame[] = [];
  const taken = { count: 0 };
  const closed = new Promise<number>((resolve) =>
    socket.addEventListener("close", ({ code }) => resolve(code)),
  );
  socket.addEventListener("message", ({ data }) => frames.push(JSON.parse(String(data))));
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", () => reject(new Error("The WebSocket was not opened")));
  });
  const send = (event: object | string) =>
    socket.send(typeof event === "string" ? event : JSON.stringify(event));
  const next = async () => {
    await until(() => frames.length > taken.count);
    const frame = frames[taken.count];
    if (!frame) throw new Error("There is no frame");
    taken.count += 1;
    return frame;
  };
  return {
    socket,
    frames,
    send,
    next,
    closed,
    // The method is Bun's.
    drop: () => (socket as WebSocket & { terminate(): void }).terminate(),
    async create(body = {}) {
      send({ type: "response.create", model: "chat", input: "Say hello.", ...body });
      const own: Frame[] = [];
      for (;;) {
        const frame = await next();
        own.push(frame);
        if (ENDS.includes(frame.type)) return own;
      }
    },
  };
}

/** Returns the id of the response that some frames end with. */
export function responseIdOf(frames: readonly Frame[]): string {
  const response = frames.at(-1)?.response;
  if (typeof response === "object" && response !== null && "id" in response) return String(response.id);
  throw new Error("The last frame has no response");
}

/** Returns the request id of some frames. */
export function requestIdOf(frames: readonly Frame[]): string {
  const headers = frames.at(-1)?.headers;
  if (typeof headers === "object" && headers !== null && "x-request-id" in headers)
    return String(headers["x-request-id"]);
  throw new Error("The last frame has no headers");
}
