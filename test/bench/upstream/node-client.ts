import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { type Client, headersOf } from "./client.ts";
import { readReadable, textOf } from "./read-readable.ts";

const SOCKETS_KEPT_MAX = 4_096;

/** `node:http` as Bun has it, with an agent that keeps every connection. */
export async function createNodeClient(url: string): Promise<Client> {
  const { hostname, port, protocol } = new URL(url);
  const { Agent, request } = protocol === "https:" ? https : http;
  const agent = new Agent({ keepAlive: true, maxFreeSockets: SOCKETS_KEPT_MAX });
  const to = { hostname, port, path: "/v1/chat/completions", method: "POST", agent };
  return async (call) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = request({ ...to, headers: headersOf(call), signal: call.signal }, resolve);
    sent.on("error", reject);
    sent.end(call.body);
    const answer = await promise;
    return {
      status: answer.statusCode ?? 0,
      text: () => textOf(answer),
      read: (onPiece) => readReadable(answer, onPiece),
    };
  };
}
