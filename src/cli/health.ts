import { loadHttpAddress } from "../config/config.ts";
import type { HttpAddress } from "../config/environment.ts";
import { reachableHost } from "../domain/addresses.ts";
import { CommandError, type CommandResult } from "./command.ts";

/** A gateway bounds its own answer at 2 s. */
const ANSWER_MS_MAX = 5_000;
const RETRY_MS = 200;
/** What an answer of another server could print at most. */
const ANSWER_LENGTH_MAX = 2_000;

export interface HealthOptions {
  /** Origin of the gateway. Default: `HOST` and `PORT` on this machine. */
  readonly url?: string;
  /** Seconds to wait until the gateway is ready. */
  readonly wait?: number;
  /** Process that the wait is for: without it, there is nothing to wait for. */
  readonly pid?: number;
}

interface Health {
  readonly isReady: boolean;
  /** The gateway's answer in one line, or the reason why no answer came. */
  readonly answer: string;
}

/** Asks a gateway whether it is ready. Fails when it is not, or not within the wait. */
export async function runHealth({ url, wait = 0, pid }: HealthOptions): Promise<CommandResult> {
  const address = new URL("/readyz", url ?? originOf(loadHttpAddress())).href;
  const deadlineMs = performance.now() + wait * 1_000;
  let health = await ask(address);
  while (!health.isReady && performance.now() < deadlineMs && isRunning(pid)) {
    await Bun.sleep(RETRY_MS);
    health = await ask(address);
  }
  const { isReady, answer } = health;
  return { json: { ready: isReady, url: address, answer }, text: answer, failed: !isReady };
}

async function ask(url: string): Promise<Health> {
  try {
    // A proxy of the environment is for upstreams.
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX), proxy: false });
    const text = (await response.text()).trim().slice(0, ANSWER_LENGTH_MAX);
    return { isReady: response.status === 200, answer: text };
  } catch {
    return { isReady: false, answer: `No gateway answers at ${url}` };
  }
}

/** Returns the origin of an address on this machine. Throws when the port is chosen at each start. */
export function originOf({ host, port }: HttpAddress): string {
  if (port === 0) throw new CommandError("PORT is 0: name the gateway with --url.", 2);
  const reachable = reachableHost(host);
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return true;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user runs as well.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
