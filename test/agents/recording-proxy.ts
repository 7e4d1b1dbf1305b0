import { connect, createServer, type Socket } from "node:net";
import { createRequestReader, type ReadRequest } from "../support/request-reader.ts";

/** Stands between an agent and the gateway, changes nothing, and keeps what the agent asked. */
export interface Tap {
  /** Without a path. */
  readonly url: string;
  readonly seen: readonly TappedRequest[];
  stop(): void;
}

export interface TappedRequest extends ReadRequest {
  /** Of the answer, once it has begun. */
  status: number | undefined;
}

/** Listens on a free port of the loopback and passes every connection on to the gateway. */
export async function startTap(gatewayUrl: string): Promise<Tap> {
  const target = Number(new URL(gatewayUrl).port);
  const seen: TappedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: target, allowHalfOpen: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
    near.on("error", () => far.destroy());
    far.on("error", () => near.destroy());
    watch(near, far, seen);
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Puts down the requests of one connection, and with each the status that came for it. */
function watch(near: Socket, far: Socket, seen: TappedRequest[]): void {
  const reader = createRequestReader();
  const unanswered: TappedRequest[] = [];
  near.on("data", (bytes) => {
    for (const request of reader.push(Buffer.from(bytes))) {
      const tapped = { ...request, status: undefined };
      seen.push(tapped);
      unanswered.push(tapped);
    }
  });
  far.on("data", (bytes) => {
    // A head is written at once, before what follows it.
    const status = Number(/^HTTP\/1\.1 ([2-5]\d\d) /.exec(bytes.toString("latin1", 0, 13))?.[1]);
    const first = status ? unanswered.shift() : undefined;
    if (first) first.status = status;
  });
}
