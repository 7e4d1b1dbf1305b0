import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy between a client and a server, which a test can break. */
export interface TcpProxy {
  /** "127.0.0.1:port" */
  readonly address: string;
  /** The number of connection attempts so far. */
  readonly connections: number;
  /** Resets every connection. New ones are still accepted. */
  cut(): void;
  /** Drops bytes of one direction, or of both, from now on. Connections stay open. */
  swallow(direction: Direction): void;
  /** Resets every connection, and every new one. */
  refuse(): void;
  /** Forwards everything again. Dropped bytes stay lost. */
  heal(): void;
  /** Called for every chunk before it is forwarded. */
  onData: (direction: Exclude<Direction, "both">) => void;
  close(): Promise<void>;
}

type Direction = "requests" | "answers" | "both";

/** Forwards to 127.0.0.1:`port`. */
export async function openTcpProxy(port: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isRefusing = false;
  let swallowed: Direction | undefined;
  let connections = 0;

  const server = createServer((near) => {
    connections += 1;
    if (isRefusing) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    pass(near, far, "requests");
    pass(far, near, "answers");
  });
  const pass = (from: Socket, to: Socket, direction: "requests" | "answers") => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on("data", (bytes) => {
      proxy.onData(direction);
      if (swallowed !== direction && swallowed !== "both") to.write(bytes);
    });
    from.on("error", () => undefined);
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const listening = server.address();
  if (listening === null || typeof listening === "string") throw new Error("The proxy has no port");

  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  const proxy: TcpProxy = {
    address: `127.0.0.1:${listening.port}`,
    get connections() {
      return connections;
    },
    cut,
    swallow(direction) {
      swallowed = direction;
    },
    refuse() {
      isRefusing = true;
      cut();
    },
    heal() {
      isRefusing = false;
      swallowed = undefined;
    },
    onData: () => undefined,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
  return proxy;
}
