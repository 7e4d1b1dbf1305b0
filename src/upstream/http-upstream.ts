import { type ConnectionPools, createPost } from "./bun-fetch.ts";
import type { Health } from "./cooldown.ts";
import { probeUpstream } from "./probe.ts";
import type { TransportRequest } from "./transport.ts";
import { createTransport } from "./transports.ts";
import type { CallObserver, Upstream, UpstreamCall, UpstreamConfig } from "./upstream.ts";

/** The state of one upstream that outlives its calls. */
interface UpstreamParts {
  readonly health: Health;
  readonly pools: ConnectionPools;
}

/**
 * An upstream reached over HTTP. It follows no redirect: calls and credentials go only to the configured
 * host. It accepts no compression, which would delay a stream.
 */
export function createHttpUpstream(config: UpstreamConfig, { health, pools }: UpstreamParts): Upstream {
  const { name, baseUrl, timeouts, outputLimitField } = config;
  const transport = createTransport(config);
  const isTls = baseUrl.startsWith("https:");
  const post = createPost({ pools: isTls ? pools : undefined, connectMs: timeouts.connectMs });

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
    name,
    address: addressOf(baseUrl),
    surfacesOf: transport.surfacesOf,
    timeouts,
    outputLimitField,
    messagesHost: transport.messagesHost,
    health,
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

function addressOf(baseUrl: string) {
  const { hostname, port, protocol } = new URL(baseUrl);
  return { host: hostname, port: Number(port) || (protocol === "https:" ? 443 : 80) };
}
