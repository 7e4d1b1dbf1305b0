import { printAddress } from "../domain/addresses.ts";
import { describeFault, type Log } from "./log.ts";
import type { PrintedMetrics } from "./metrics.ts";

/** A running HTTP server of metrics. */
export interface MetricsServer {
  /** "127.0.0.1:9464", with the port that is bound. */
  readonly address: string;
  stop(): Promise<void>;
}

interface MetricsServerOptions {
  readonly metrics: Pick<PrintedMetrics, "print" | "contentType">;
  /** Port 0 binds any free port. `host` is without the brackets of an IPv6 address. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly log: Pick<Log, "error">;
}

/** The address of the metrics cannot be bound. */
export class MetricsListenError extends Error {
  override readonly name = "MetricsListenError";
}

/**
 * Serves `GET /metrics` without authentication, and nothing else. Throws {@link MetricsListenError} when the
 * port is in use: two gateways on one port would be scraped as one.
 */
export function serveMetrics({ metrics, listen: { host, port }, log }: MetricsServerOptions): MetricsServer {
  const print = async () =>
    new Response(await metrics.print(), { headers: { "content-type": metrics.contentType } });
  try {
    const server = Bun.serve({
      hostname: host,
      port,
      reusePort: false,
      // In development mode Bun would answer a fault with the source code around it.
      development: false,
      routes: { "/metrics": { GET: print } },
      fetch: () => new Response("not found\n", { status: 404 }),
      error(fault) {
        log.error(describeFault(fault), "metrics cannot be read");
        return new Response("internal error\n", { status: 500 });
      },
    });
    return { address: printAddress(host, server.port ?? port), stop: () => server.stop(true) };
  } catch (cause) {
    throw new MetricsListenError(`Cannot serve the metrics at ${printAddress(host, port)}`, { cause });
  }
}
