import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy between a client and a server that simulates network faults. */
export interface TcpRelay {
  readonly port: number;
  /** Number of connections accepted so far. */
  connections(): number;
  /** Open connections lose all further bytes and are never closed. New connections go to `port`. */
  loseAll(port: number): void;
  /** Withholds the bytes of the server, also on new connections, until `letThrough`. */
  holdAnswers(): void;
  letThrough(): void;
  /** Withholds the bytes of the clients on open connections until `deliver`, also after they have closed. */
  detain(): void;
  deliver(): void;
  /** New connections go to `port`. Open connections stay. */
  aimAt(port: number): void;
  stop(): void;
}

/** Listens on a free loopback port and forwards each connection to `port`. */
export async function startTcpRelay(port: number): Promise<TcpRelay> {
  let target = port;
  let count = 0;
  let isHeld = false;
  const detained = new Map<Socket, { readonly far: Socket; readonly bytesHeld: Buffer[] }>();
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    count += 1;
    const far = connect({ host: "127.0.0.1", port: target, allowHalfOpen: true });
    pairs.add([near, far]);
    near.pipe(far);
    if (!isHeld) far.pipe(near);
    near.on("error", () => detained.has(near) || far.destroy());
    far.on("error", () => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : 0,
    connections: () => count,
    loseAll(next) {
      target = next;
      for (const [near, far] of pairs) {
        near.unpipe(far);
        far.unpipe(near);
        // Further bytes are read and discarded.
        near.resume();
        far.resume();
      }
    },
    holdAnswers() {
      isHeld = true;
      for (const [near, far] of pairs) far.unpipe(near).pause();
    },
    letThrough() {
      isHeld = false;
      for (const [near, far] of pairs) far.pipe(near);
    },
    detain() {
      for (const [near, far] of pairs) {
        const bytesHeld: Buffer[] = [];
        detained.set(near, { far, bytesHeld });
        near.unpipe(far);
        near.on("data", (bytes) => bytesHeld.push(Buffer.from(bytes)));
        near.resume();
      }
    },
    deliver() {
      for (const { far, bytesHeld } of detained.values()) far.write(Buffer.concat(bytesHeld));
    },
    aimAt(next) {
      target = next;
    },
    stop() {
      server.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
  };
}
