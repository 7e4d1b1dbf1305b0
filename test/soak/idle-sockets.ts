import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createPaidKey } from "../start/paid-key.ts";
import { startServedProcess } from "../support/served-process.ts";
import { tempFolder } from "../support/temp-folder.ts";

const { values } = parseArgs({
  options: { count: { type: "string", default: "10000" }, help: { type: "boolean", short: "h" } },
});

const USAGE = `bun run soak:sockets [--count N]

Opens N idle WebSockets (default 10,000) of one gateway in its own process, and prints what each takes of its memory,
how long requests over HTTP and over a WebSocket take beside them, and how long the end of the gateway takes. Needs
twice as many open files. Exits with 1 when a connection is refused or is not closed with 1001.
`;

/** Connections that are opened at a time. */
const AT_ONCE = 200;
const TRIES = 200;
const GOING_AWAY = 1001;

if (values.help) process.stdout.write(USAGE);
else process.exitCode = (await run(Number(values.count))) ? 0 : 1;

async function run(count: number): Promise<boolean> {
  const folder = tempFolder();
  const limits = { websockets: count, requests_per_minute: 1_000_000 };
  const config = { http: { websockets: count }, limits, account_limits: limits };
  await Bun.write(join(folder, "tollgate.yaml"), JSON.stringify(config));
  const secret = await createPaidKey(folder);
  const gateway = await startServedProcess({ folder });
  const ask = () => askOverHttp(gateway.url, secret);
  await timed(ask);
  const before = await residentMb(gateway.pid);
  console.log(`without connections: ${before.toFixed(0)} MB, ${(await timed(ask)).toFixed(2)} ms a request`);
  const codes = new Map<number, number>();
  const sockets = await openAll(gateway.url, { secret, count, codes });
  const after = await residentMb(gateway.pid);
  const each = ((after - before) * 1e3) / sockets.length;
  console.log(`${sockets.length} connections: ${after.toFixed(0)} MB, ${each.toFixed(1)} KB each`);
  console.log(`beside them: ${(await timed(ask)).toFixed(2)} ms a request`);
  const [socket] = sockets;
  if (socket) console.log(`on one of them: ${(await timed(() => askOn(socket))).toFixed(2)} ms a response`);
  const startedAt = performance.now();
  gateway.signal("SIGTERM");
  await gateway.exitCode;
  console.log(`end of the gateway: ${(performance.now() - startedAt).toFixed(0)} ms`);
  await Bun.sleep(500);
  console.log(`close codes: ${[...codes].map(([code, times]) => `${times} of ${code}`).join(", ")}`);
  rmSync(folder, { recursive: true, force: true });
  return sockets.length === count && codes.get(GOING_AWAY) === count;
}

interface Opening {
  readonly secret: string;
  readonly count: number;
  readonly codes: Map<number, number>;
}

async function openAll(url: string, { secret, count, codes }: Opening): Promise<readonly WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const wanted = Math.min(AT_ONCE, count - sockets.length);
    const opening = Array.from({ length: wanted }, () => open(url, secret, codes));
    const opened = (await Promise.all(opening)).filter((each) => each !== undefined);
    sockets.push(...opened);
    if (opened.length < wanted) return sockets;
  }
  return sockets;
}

function open(url: string, secret: string, codes: Map<number, number>): Promise<WebSocket | undefined> {
  const options = { headers: { authorization: `Bearer ${secret}` } };
  // The cast is safe: Bun's constructor takes options, which the types of the DOM do not declare.
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, options as unknown as string[]);
  return new Promise((resolve) => {
    socket.addEventListener("open", () => {
      socket.addEventListener("close", ({ code }) => codes.set(code, (codes.get(code) ?? 0) + 1));
      resolve(socket);
    });
    socket.addEventListener("error", () => resolve(undefined));
  });
}

async function askOverHttp(url: string, secret: string): Promise<void> {
  const body = JSON.stringify({ model: "demo", input: "Hi.", max_output_tokens: 16, stream: true });
  const headers = { authorization: `Bearer ${secret}` };
  await (await fetch(`${url}/v1/responses`, { method: "POST", headers, body })).text();
}

function askOn(socket: WebSocket): Promise<void> {
  socket.send(
    JSON.stringify({ type: "response.create", model: "demo", input: "Hi.", max_output_tokens: 16 }),
  );
  return new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      if (/^\{"type":"(response\.(completed|incomplete|failed)|error)"/.test(String(data))) resolve();
    };
  });
}

/** Returns the median time of some calls, in milliseconds. */
async function timed(call: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let tried = 0; tried < TRIES; tried += 1) {
    const startedAt = performance.now();
    await call();
    times.push(performance.now() - startedAt);
  }
  return times.sort((one, other) => one - other)[TRIES / 2] ?? 0;
}

async function residentMb(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text();
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1e3;
}
