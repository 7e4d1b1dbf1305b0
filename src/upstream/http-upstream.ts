import { type ConnectionPools, createPost, type Post } from "./bun-fetch.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import { createTransport } from "./transports.ts";
import type { CallObserver, Upstream, UpstreamCall, UpstreamConfig, UpstreamKey } from "./upstream.ts";

/** Calls of one host with one key, and what its API is. */
export type HttpSender = Pick<UpstreamKey, "probe" | "send"> & Pick<Upstream, "surfacesOf" | "messagesHost">;

/** Returns the function that sends the requests of all keys of an upstream, over connections that they share. */
export function createHostPost({ baseUrl, timeouts }: UpstreamConfig, pools: ConnectionPools): Post {
  const isTls = baseUrl.startsWith("https:");
  return createPost({ pools: isTls ? pools : undefined, connectMs: timeouts.connectMs });
}

/**
 * Sends calls with the `apiKey` of a configuration. Follows no redirect: calls and credentials go only to the
 * configured host. Accepts no compression, which would delay a stream.
 */
export function createHttpSender(config: UpstreamConfig, post: Post): HttpSender {
  const transport = createTransport(config);

  async function send(call: UpstreamCall, observer: CallObserver): Promise<Response> {
    const answer = await postCall(call, observer);
    if ((answer.status !== 401 && answer.status !== 403) || !transport.mayRepeat?.(answer)) return answer;
    await answer.body?.cancel();
    return postCall(call, observer);
  }

  function postCall(call: UpstreamCall, observer: CallObserver): Promise<Response> {
    const request = transport.request(call);
    return request instanceof Promise
      ? untilAborted(request, observer.signal).then((ready) => postRequest(ready, call, observer))
      : postRequest(request, call, observer);
  }

  function postRequest(
    { url, headers, body }: TransportRequest,
    call: UpstreamCall,
    observer: CallObserver,
  ): Promise<Response> {
    const sent = post({ url, headers, body: body ?? call.body }, observer);
    return transport.readAnswer
      ? sent.then((answer) => transport.readAnswer?.(answer, call) ?? answer)
      : sent;
  }

  return {
    surfacesOf: transport.surfacesOf,
    messagesHost: transport.messagesHost,
    probe: () => probeUpstream(transport),
    send: transport.mayRepeat ? send : postCall,
  };
}

/** Rejects when the call is aborted: a slow fetch of credentials must not outlive its timeouts. */
function untilAborted<Value>(awaited: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([awaited, aborted]).finally(() => signal.removeEventListener("abort", stop));
}

/** The host and port of a base URL. */
export function addressOf(baseUrl: string) {
  const { hostname, port, protocol } = new URL(baseUrl);
  return { host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
}

/** How long an upstream may take to list its models. */
const ANSWER_MS_MAX = 5_000;
const ANSWERED = 200;

/**
 * Asks an upstream for the list of its models, which costs nothing. Resolves with the status of the response,
 * or with the code of the network error; with 200 for any answer to a probe without credentials. Nothing that
 * the upstream sent is returned.
 */
export async function probeUpstream(transport: Pick<Transport, "probe">): Promise<number | string> {
  const answer = await askProbe(transport, (response) => response.body?.cancel());
  if (typeof answer === "string") return answer;
  return answer.isAnonymous ? ANSWERED : answer.status;
}

interface ProbeAnswer<Body> {
  readonly status: number;
  readonly body: Body;
  /** Whether the probe had no credentials. */
  readonly isAnonymous: boolean;
}

/**
 * Sends the probe of a transport and reads its answer, which `read` must bound. Follows no redirect. Resolves with
 * the code of a network error.
 */
export async function askProbe<Body>(
  transport: Pick<Transport, "probe">,
  read: (response: Response) => Promise<Body> | Body,
): Promise<ProbeAnswer<Body> | string> {
  try {
    const { url, headers, isAnonymous = false } = await transport.probe();
    const response = await fetch(url, {
      headers,
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return { status: response.status, body: await read(response), isAnonymous };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    return /^[A-Z_]+$/i.test(code) ? code : "timeout";
  }
}
