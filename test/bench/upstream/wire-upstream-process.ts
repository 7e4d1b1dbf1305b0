import type { Socket, SocketHandler } from "bun";
import { makeCertificates } from "../../support/certificates.ts";
import { createRequestReader } from "../../support/request-reader.ts";
import { EVENT_MS, MODELS, STREAM_PIECES, UNAVAILABLE_ANSWER, WHOLE_ANSWER } from "./wire-answers.ts";

/** The answer of this process to {@link startWireUpstream}. */
export interface WireUpstreamState {
  readonly plainUrl: string;
  readonly secureUrl: string;
  /** The certificate to trust for `secureUrl`, as PEM. */
  readonly authority: string;
  readonly counts: WireUpstreamCounts;
}

/** Counts since the start. */
export interface WireUpstreamCounts {
  /** Accepted connections. Each secure one took a TLS handshake. */
  readonly sockets: number;
  /** Calls that were made to fail. */
  readonly failures: number;
}

interface Connected {
  readonly reader: ReturnType<typeof createRequestReader>;
}

type Failure = keyof typeof MODELS;

const FAILURES: readonly Failure[] = ["unavailable", "reset"];
const FAILS_EVERY = 10;

/** Streams are spread over this many phases of an interval. */
const PHASES = 4;

const streams = createPacedStreams();
const tenths = { unavailable: 0, reset: 0 };
let sockets = 0;
let failures = 0;

const handler: SocketHandler<Connected> = {
  open(socket) {
    sockets += 1;
    socket.data = { reader: createRequestReader() };
    socket.setNoDelay(true);
  },
  data(socket, bytes) {
    for (const { body } of socket.data.reader.push(Buffer.from(bytes)))
      answer(socket, body.toString("latin1"));
  },
  close: (socket) => streams.drop(socket),
  error: (socket) => streams.drop(socket),
};

using certificates = makeCertificates();
const { cert, key } = certificates.server;
const place = { hostname: "127.0.0.1", port: 0, socket: handler };
const plain = Bun.listen<Connected>(place);
const secure = Bun.listen<Connected>({ ...place, tls: { cert, key } });

const control = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () =>
    Response.json({
      plainUrl: `http://127.0.0.1:${plain.port}`,
      secureUrl: `https://127.0.0.1:${secure.port}`,
      authority: certificates.authority,
      counts: { sockets, failures },
    } satisfies WireUpstreamState),
});

process.send?.({ port: control.port });
process.once("disconnect", () => process.exit());

function answer(socket: Socket<Connected>, body: string): void {
  const failure = FAILURES.find((each) => isToFail(body, each));
  if (failure) failures += 1;
  if (failure === "unavailable") writeAll(socket, UNAVAILABLE_ANSWER);
  else if (failure === "reset") socket.terminate();
  else if (body.includes('"stream":true')) streams.begin(socket);
  else writeAll(socket, WHOLE_ANSWER);
}

function isToFail(body: string, failure: Failure): boolean {
  if (hasModel(body, MODELS[failure].always)) return true;
  if (!hasModel(body, MODELS[failure].tenth)) return false;
  tenths[failure] += 1;
  return tenths[failure] % FAILS_EVERY === 0;
}

function hasModel(body: string, model: string): boolean {
  return body.includes(`"model":"${model}"`);
}

/** Writes thousands of streams at the pace of a model, with few timers. */
export interface PacedStreams {
  /** Writes the first event immediately. */
  begin(socket: Socket<unknown>): void;
  /** Forgets a stream whose client has disconnected. */
  drop(socket: Socket<unknown>): void;
}

/** Creates streams that are spread over the phases of an interval. */
export function createPacedStreams(): PacedStreams {
  const phases = Array.from({ length: PHASES }, () => new Map<Socket<unknown>, number>());
  let begun = 0;
  let ticks = 0;

  function tick(): void {
    const running = phases[ticks++ % PHASES];
    for (const [socket, next] of running ?? []) {
      writeAll(socket, STREAM_PIECES[next]);
      if (next + 1 < STREAM_PIECES.length) running?.set(socket, next + 1);
      else running?.delete(socket);
    }
  }

  setInterval(tick, EVENT_MS / PHASES);
  return {
    begin(socket) {
      writeAll(socket, STREAM_PIECES[0]);
      phases[begun++ % PHASES]?.set(socket, 1);
    },
    drop(socket) {
      for (const running of phases) running.delete(socket);
    },
  };
}

/** Throws unless the socket accepts all bytes. A whole stream fits into its buffer. */
export function writeAll(socket: Socket<unknown>, bytes: Buffer | undefined): void {
  if (!bytes) return;
  const taken = socket.write(bytes);
  if (taken >= 0 && taken !== bytes.length) throw new Error("A socket does not take a whole event");
}
