import { createServer, type Socket } from "node:net";
import { createRequestReader, type ReadRequest } from "../support/request-reader.ts";
import { playScript, type ScriptRequest, type Step } from "../support/script.ts";
import { behaviorOf } from "./flaky-behavior.ts";
import { requestNumberOf, type StormConditions, type UpstreamName } from "./plan.ts";

/** The open connections and calls of a flaky upstream. */
export interface FlakyCount {
  /** Calls that are neither answered nor abandoned by their client. */
  readonly underWay: number;
  readonly openSockets: number;
}

/** An upstream on a port of its own that answers as the storm conditions decide. */
export interface FlakyServer {
  readonly port: number;
  count(): FlakyCount;
  /** The numbers of the requests that it answered completely. */
  readonly answered: readonly number[];
  /** Stops listening. Running calls continue. */
  goDown(): void;
  comeUp(): Promise<void>;
}

/** Below the ephemeral ports, so that the port is still free after an outage. */
const PORTS = { least: 20_000, most: 30_000 };

export async function startFlakyServer(
  conditions: StormConditions,
  name: UpstreamName,
): Promise<FlakyServer> {
  const sockets = new Set<FlakySocket>();
  const answered: number[] = [];
  let underWay = 0;
  let isDown = false;

  async function play(connection: FlakySocket, gone: Promise<void>, request: ReadRequest): Promise<void> {
    underWay += 1;
    connection.isBusy = true;
    const body = request.body.toString("utf8");
    const number = requestNumberOf(body);
    const behavior = behaviorOf(conditions, name, number);
    const steps = behavior.script(describe(request, body));
    const answer = behavior.isAnswer ? untilFinish(steps, () => answered.push(number)) : steps;
    await playScript(connection.socket, gone, answer);
    connection.isBusy = false;
    underWay -= 1;
    if (isDown) connection.socket.end();
  }

  const server = createServer({ noDelay: true }, (socket) => {
    const connection = { socket, isBusy: false };
    sockets.add(connection);
    const { promise: gone, resolve } = Promise.withResolvers<void>();
    socket.on("close", () => {
      sockets.delete(connection);
      resolve();
    });
    socket.on("error", () => {});
    const reader = createRequestReader();
    let busy = Promise.resolve();
    socket.on("data", (bytes) => {
      for (const request of reader.push(Buffer.from(bytes))) {
        busy = busy.then(() => play(connection, gone, request));
      }
    });
  });

  const port = await listenSomewhere(server);
  return {
    port,
    count: () => ({ underWay, openSockets: sockets.size }),
    answered,
    goDown() {
      isDown = true;
      server.close();
      for (const { socket, isBusy } of sockets) if (!isBusy) socket.end();
    },
    async comeUp() {
      await listen(server, port);
      isDown = false;
    },
  };
}

interface FlakySocket {
  readonly socket: Socket;
  isBusy: boolean;
}

/**
 * Calls `onFinish` before the piece with the finish reason is sent, or the last piece with content. A request
 * that times out after its finish counts as answered.
 */
async function* untilFinish(
  steps: Iterable<Step> | AsyncIterable<Step>,
  onFinish: () => void,
): AsyncGenerator<Step> {
  const all = await Array.fromAsync(steps);
  const last = all.findLastIndex((step) => "send" in step && step.send.length > END_OF_CHUNKS.length);
  let receivedText = "";
  let isReported = false;
  for (const [index, step] of all.entries()) {
    if ("send" in step) receivedText += Buffer.from(step.send).toString("latin1");
    if (!isReported && (index === last || FINISH.test(receivedText.replace(CHUNK_SEAMS, "")))) {
      isReported = true;
      onFinish();
    }
    yield step;
  }
}

const FINISH = /(finish|stop)_reason"\s*:\s*"/;
/** The chunk framing, which may split the finish reason. */
const CHUNK_SEAMS = /\r\n[0-9a-f]+\r\n/g;

const END_OF_CHUNKS = "0\r\n\r\n";

function describe({ method, target, headers }: ReadRequest, bodyText: string): ScriptRequest {
  return {
    method,
    target,
    headers,
    bodyText,
    protocol: target.includes("/messages") ? "anthropic" : "openai",
    model: undefined,
    stream: /"stream":\s*true/.test(bodyText),
    includeUsage: bodyText.includes('"include_usage":true'),
  };
}

type Server = ReturnType<typeof createServer>;

async function listenSomewhere(server: Server): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = PORTS.least + Math.floor(Math.random() * (PORTS.most - PORTS.least));
    try {
      await listen(server, port);
      return port;
    } catch (error) {
      if (attempt === 10) throw error;
    }
  }
}

function listen(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ port, host: "127.0.0.1", backlog: 1024 }, () => {
    server.off("error", reject);
    resolve();
  });
  return promise;
}
