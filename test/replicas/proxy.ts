import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePort } from "../support/free-port.ts";
import { startGuarded } from "../support/guarded-process.ts";
import { requireProgram } from "../support/installed-programs.ts";
import { until } from "../support/until.ts";

/** HAProxy with the configuration that the project ships. */
export interface ReverseProxy {
  /** "http://127.0.0.1:PORT" */
  readonly url: string;
  /** What HAProxy has logged: one line per request, and one per change of a gateway's state. */
  log(): string;
  /** How often HAProxy has reported a gateway, counted from 1, as up or down. */
  changes(gateway: number, state: "UP" | "DOWN"): number;
  stop(): Promise<void>;
}

const CONFIGURATION = resolve(import.meta.dir, "../../deploy/haproxy/haproxy.cfg");

/** Starts HAProxy in front of three gateways, each "127.0.0.1:PORT". */
export async function startProxy(gateways: readonly string[]): Promise<ReverseProxy> {
  const program = await requireProgram({
    name: "haproxy",
    folders: ["usr/sbin"],
    debianPackage: "haproxy",
    variable: "PATH",
  });
  const listen = `127.0.0.1:${freePort()}`;
  const variables = gateways.map((address, index) => `GATEWAY_${index + 1}=${address}`);
  const folder = mkdtempSync(join(tmpdir(), "haproxy-"));
  const command = ["env", `LISTEN=${listen}`, ...variables, program, "-f", CONFIGURATION];
  const server = startGuarded({ command, folder, endSignal: "KILL" });
  const url = `http://${listen}`;
  await until(async () => {
    if (server.hasEnded()) throw new Error(`HAProxy did not start: ${server.output()}`);
    return (await fetch(`${url}/readyz`).catch(() => undefined))?.ok ?? false;
  });
  const changes = (gateway: number, state: string) =>
    server.output().split(`Server gateways/gateway-${gateway} is ${state}`).length - 1;
  return { url, log: server.output, changes, stop: server.stop };
}
