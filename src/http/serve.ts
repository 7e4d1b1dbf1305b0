import type { Server } from "bun";
import { createApp } from "./app.ts";
import type { HttpParts } from "./http-parts.ts";

/** Bun closes an idle keep-alive connection after this long. */
const IDLE_S = 60;
/** Far above our own limit, so that 30 MiB + 1 is refused by us and not by Bun's bare 413. */
const BUN_BODY_BYTES_MAX = 1024 * 1024 * 1024;

/** Listens. Fails when the port is taken: two gateways on one port would share its requests unseen. */
export function listen(parts: HttpParts, { host, port }: { host: string; port: number }): Server<undefined> {
  const app = createApp(parts);
  return Bun.serve({
    hostname: host,
    port,
    reusePort: false,
    idleTimeout: IDLE_S,
    maxRequestBodySize: BUN_BODY_BYTES_MAX,
    fetch(request, server) {
      // A model may think for minutes: our own limits apply there, and silences in streams are filled.
      if (request.method === "POST") server.timeout(request, 0);
      return app.fetch(withRoutableUrl(request));
    },
  });
}

/** Elysia looks for the path from the twelfth character of the URL on, which a very short Host header shifts. */
function withRoutableUrl(request: Request): Request {
  const { url } = request;
  const pathAt = url.indexOf("/", url.indexOf("//") + 2);
  if (pathAt >= "http://".length + 4) return request;
  return new Request(`http://localhost${url.slice(pathAt)}`, request);
}
