import type { Protocol, Surface } from "../domain/model.ts";
import type { ConnectionPools } from "./bun-fetch.ts";
import type { Health } from "./cooldown.ts";
import { decodeAnswer } from "./decode-answer.ts";
import type { CallBody, CallObserver, Upstream, UpstreamCall, UpstreamConfig } from "./upstream.ts";

/** A kept connection that its host has closed says so within a round trip of being used; later it is another fault. */
const STALE_MS_MAX = 300;

// Why Bun's fetch carries the calls. Beside node:http with a keep-alive Agent and beside undici, at 64, 512 and
// 2,000 streams at a time, with whole answers and with bursts (`bun run bench upstream`), it takes the least memory
// everywhere; over TLS, which is how providers are reached, it is the cheapest (99 µs of CPU a call in bursts of
// 200, the others 166 and 152) or within a tenth of that; only over plain HTTP, with 512 and more at a time, is it
// up to a third dearer than node:http. It obeys proxies. What it lacks is made up for: a sign of the connection
// (`lateBody`, 10 to 15 µs a call), another try on a connection kept too long, a TLS connection for every call that
// runs at a time (`lanes.ts`), and more than 256 calls a process (`config/relaunch.ts`).

/**
 * An upstream reached over HTTP. Follows no redirect, so that a call and its credentials go to the
 * operator's host and nowhere else; asks for no compression, which would only delay a stream.
 */
export function createHttpUpstream(
  options: UpstreamConfig,
  { health, lanes }: { readonly health: Health; readonly lanes: ConnectionPools },
): Upstream {
  const { name, protocol, timeouts, outputLimitField } = options;
  const isTls = options.baseUrl.startsWith("https:");
  const credentials = credentialHeaders(protocol, options.apiKey);

  /** Before an answer has come there is no connection that could have been kept. */
  let hasAnswered = false;

  async function send(call: UpstreamCall, observer: CallObserver): Promise<Response> {
    const url = `${options.baseUrl}${call.path}${call.query}`;
    const headers = { ...requestHeaders(call), ...credentials };
    let connectedAt = Number.POSITIVE_INFINITY;
    const connected = () => {
      connectedAt = performance.now();
      observer.connected();
    };
    const session = isTls ? lanes.take(observer.ended) : undefined;
    const post = (keepalive: boolean) =>
      fetch(url, {
        session,
        method: "POST",
        headers,
        body: lateBody(call.body, connected),
        signal: observer.signal,
        keepalive,
        redirect: "manual",
        // Bun prints a line of its own for a body that it cannot decode.
        decompress: false,
        // Off, because our own watch over the attempt has the true limits and Bun's has a 4 s grain.
        timeout: false,
      });
    try {
      const answer = await post(true);
      hasAnswered = true;
      // Not awaited here: a connection that is reset later was not a stale one.
      return answer.headers.has("content-encoding") ? decodeAnswer(answer) : answer;
    } catch (fault) {
      const isStale = hasAnswered && isReset(fault) && performance.now() - connectedAt < STALE_MS_MAX;
      if (!isStale || observer.signal.aborted) throw fault;
      observer.connecting();
      return decodeAnswer(await post(false));
    }
  }

  return { name, surfaces: surfacesOf(options), timeouts, outputLimitField, health, send };
}

/** A body that is asked for when there is a connection to put it on: the only sign of that which fetch gives. */
function lateBody(body: CallBody, onAsked: () => void): ReadableStream<Uint8Array> {
  const source: Bun.DirectUnderlyingSource<Uint8Array> = {
    type: "direct",
    pull(controller) {
      onAsked();
      const send = (printed: string | Uint8Array) => {
        controller.write(printed);
        controller.close();
      };
      const printed = body.take();
      return printed instanceof Promise ? printed.then(send) : send(printed);
    },
  };
  // Safe because Bun takes direct sources, which the DOM's types do not know.
  return new ReadableStream(source as unknown as UnderlyingSource<Uint8Array>);
}

/** The connection was closed before an answer's head had come; fetch does not tell how much of it had. */
function isReset(fault: unknown): boolean {
  return fault instanceof Error && "code" in fault && fault.code === "ECONNRESET";
}

function requestHeaders(call: UpstreamCall): Record<string, string> {
  return {
    "content-type": "application/json",
    // Said, because a body that comes as a stream would be sent in chunks, which some hosts refuse.
    "content-length": String(call.body.bytes),
    accept: call.stream ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    ...call.headers,
  };
}

function surfacesOf({ protocol, hasResponses }: UpstreamConfig): readonly Surface[] {
  if (protocol === "anthropic") return ["messages"];
  return hasResponses ? ["chat", "embeddings", "responses"] : ["chat", "embeddings"];
}

/** How an upstream of a protocol wants to be told the key. */
export function credentialHeaders(protocol: Protocol, apiKey: string): Record<string, string> {
  return protocol === "anthropic" ? { "x-api-key": apiKey } : { authorization: `Bearer ${apiKey}` };
}
