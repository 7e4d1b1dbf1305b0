import { type Client, headersOf } from "./client.ts";
import { readReadable } from "./read-readable.ts";

const KEPT_MS = 30_000;

/** The real undici with as many connections as there are calls. */
export async function createUndiciClient(url: string): Promise<Client> {
  // By its path, because under its name Bun has a stand-in of its own.
  const { Agent, request } = await import("../../../node_modules/undici/index.js");
  const dispatcher = new Agent({
    connections: null,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEPT_MS,
  });
  const target = `${url}/v1/chat/completions`;
  return async (call) => {
    const { body, signal } = call;
    const answer = await request(target, {
      method: "POST",
      headers: headersOf(call),
      body,
      signal,
      dispatcher,
    });
    return {
      status: answer.statusCode,
      text: () => answer.body.text(),
      read: (onPiece) => readReadable(answer.body, onPiece),
    };
  };
}
