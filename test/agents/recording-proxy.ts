import { connect, createServer, type Socket } from "node:net";
import { createRequestReader, type ReadRequest } from "../support/request-reader.ts";
import { createFrameReader } from "./socket-frames.ts";

/** A TCP proxy between an agent and the gateway. It records requests and changes no byte. */
export interface RecordingProxy {
  /** Address of the proxy, without a path. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  stop(): void;
}

export interface RecordedRequest extends ReadRequest {
  /** Status of the answer, once its head has arrived. */
  status: number | undefined;
  /** The events that the agent sent over a WebSocket that this request opened. */
  readonly events: readonly unknown[];
}

/** Listens on a free port of the loopback interface and forwards every connection to the gateway. */
export async function startRecordingProxy(gatewayUrl: string): Promise<RecordingProxy> {
  const target = Number(new URL(gatewayUrl).port);
  const requests: RecordedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: target, allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    record(near, far, requests);
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Records the requests of one connection with the status of each answer. */
function record(near: Socket, far: Socket, requests: RecordedRequest[]): void {
  const reader = createRequestReader();
  const unanswered: RecordedRequest[] = [];
  let frames: ReturnType<typeof createFrameReader> | undefined;
  near.on("data", (bytes) => {
    if (frames) return frames.push(Buffer.from(bytes));
    for (const request of reader.push(Buffer.from(bytes))) {
      const events: unknown[] = [];
      // A gateway with room for a WebSocket answers with 101, and frames follow the request.
      if (request.headers.upgrade?.toLowerCase() === "websocket")
        frames = createFrameReader((text) => events.push(JSON.parse(text)));
      const recorded = { ...request, status: undefined, events };
      requests.push(recorded);
      unanswered.push(recorded);
    }
  });
  far.on("data", (bytes) => {
    // The gateway writes the head of an answer in one piece, before the body.
    const status = Number(/^HTTP\/1\.1 (101|[2-5]\d\d) /.exec(bytes.toString("latin1", 0, 13))?.[1]);
    const first = status ? unanswered.shift() : undefined;
    if (first) first.status = status;
  });
}
