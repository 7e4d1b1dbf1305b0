import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { findReceiver, hostOf } from "./webhook-address.ts";

export interface WebhookPost {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface PostOptions {
  readonly allowsLoopback: boolean;
  /** For the whole call, the look-up included. Default: 10 s. */
  readonly timeoutMs?: number | undefined;
  /** PEM certificates to trust in place of the system's, for tests. */
  readonly ca?: string | undefined;
}

export const POST_MS_MAX = 10_000;
/** Status line and headers of an answer; nothing after them is read. */
const HEAD_BYTES_MAX = 16_384;

/**
 * Sends one POST over a connection of its own to the address that was checked, and resolves with the status.
 * Follows no redirect, and reads no body. Rejects without a status in time.
 */
export async function postWebhook(post: WebhookPost, options: PostOptions): Promise<number> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let socket: Socket | undefined;
  const timer = setTimeout(
    () => reject(new Error("The receiver took too long")),
    options.timeoutMs ?? POST_MS_MAX,
  );
  const send = async () => {
    const url = new URL(post.url);
    const address = await Promise.race([findReceiver(url, options), late]);
    socket = open(url, address, options);
    return Promise.race([exchange(socket, url, printRequest(url, post)), late]);
  };
  try {
    return await send();
  } finally {
    clearTimeout(timer);
    socket?.destroy();
  }
}

function open(url: URL, address: string, { ca }: PostOptions): Socket {
  const isEncrypted = url.protocol === "https:";
  const port = Number(url.port) || (isEncrypted ? 443 : 80);
  if (!isEncrypted) return connectTcp({ host: address, port });
  const host = hostOf(url);
  return connectTls({
    host: address,
    port,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ["http/1.1"],
  });
}

function printRequest({ pathname, search, host }: URL, { body, headers }: WebhookPost): string {
  const all = {
    host,
    "user-agent": "Tollgate-Webhook/1",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`POST ${pathname}${search} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** Writes the request when the connection stands, certificate checked, and resolves with the final status. */
function exchange(socket: Socket, url: URL, request: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let head = "";
  const ready = url.protocol === "https:" ? "secureConnect" : "connect";
  socket.once(ready, () => socket.write(request));
  socket.on("error", reject);
  socket.once("close", () => reject(new Error("The receiver closed the connection")));
  socket.on("data", (chunk: Buffer) => {
    head += chunk.toString("latin1");
    const status = readStatus(head);
    if (typeof status === "number") resolve(status);
    else if (status === "none" || head.length > HEAD_BYTES_MAX)
      reject(new Error("The receiver sent no status"));
  });
  return promise;
}

/** Reads the status of an answer whose headers are complete. Passes over interim answers such as 100. */
function readStatus(head: string): number | "incomplete" | "none" {
  let rest = head;
  for (;;) {
    const end = rest.indexOf("\r\n\r\n");
    if (end === -1) return "incomplete";
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r\n)/.exec(rest)?.[1]);
    if (!status) return "none";
    if (status >= 200) return status;
    rest = rest.slice(end + 4);
  }
}
