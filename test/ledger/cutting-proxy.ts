import { connect, createServer, type Socket } from "node:net";

/**
 * When a connection is cut: COMMIT was received but not forwarded, or forwarded but its reply was not. "frozen"
 * keeps the connection open without forwarding COMMIT, as a machine that has stopped.
 */
type Cut = "before commit" | "after commit" | "frozen";

/** A proxy in front of PostgreSQL that can cut a connection at a commit. */
export interface CuttingProxy {
  readonly url: string;
  /** Cuts the connection of the next commit. Resolves when it is cut. Default of `marker`: {@link COMMIT}. */
  cutNext(cut: Cut, marker?: string): Promise<void>;
  /** Cuts every connection, and new ones until `open`. */
  shut(): void;
  open(): void;
  close(): Promise<void>;
}

/** The text of a simple COMMIT query, and of the tag that completes it, on the wire. */
const COMMIT = "COMMIT\0";

export async function startCuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let next: { readonly cut: Cut; readonly marker: string; readonly done: () => void } | undefined;
  let isShut = false;

  const server = createServer((client) => {
    if (isShut) return void client.destroy();
    const upstream = connect({ host: target.hostname, port: Number(target.port) });
    const end = () => {
      for (const socket of [client, upstream]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true).on("error", end).on("close", end);
    }
    const forward = (from: Socket, to: Socket, cut: Cut) =>
      from.on("data", (bytes: Buffer) => {
        const isCut = next?.cut === cut || (next?.cut === "frozen" && from === client);
        if (!next || !isCut || !bytes.includes(next.marker)) return void to.write(bytes);
        if (next.cut !== "frozen") end();
        next.done();
        next = undefined;
      });
    forward(client, upstream, "before commit");
    forward(upstream, client, "after commit");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const url = new URL(databaseUrl);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  url.port = `${address.port}`;
  return {
    url: url.href,
    cutNext(cut, marker = COMMIT) {
      const { promise, resolve } = Promise.withResolvers<void>();
      next = { cut, marker, done: resolve };
      return promise;
    },
    shut() {
      isShut = true;
      for (const socket of sockets) socket.destroy();
    },
    open() {
      isShut = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
