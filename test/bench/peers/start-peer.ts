import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { requireNode } from "../../support/installed-programs.ts";
import { faultOf, requestBody } from "../answers.ts";
import type { Target } from "../connection.ts";
import { requirePackage } from "./install.ts";
import type { Launch, Peer } from "./peers.ts";

/** A process that answers requests. */
export interface RunningPeer {
  readonly pid: number;
  readonly target: Target;
  stop(): Promise<void>;
}

const START_MS_MAX = 120_000;
const ANSWER_MS_MAX = 10_000;
const POLL_MS = 100;

/** Installs and starts a peer, and waits for its first right answer. Throws with the reason otherwise. */
export async function startPeer(peer: Peer, upstreamUrl: string, cache: string): Promise<RunningPeer> {
  const folder = await requirePackage(peer.package, cache);
  const launch = peer.plan({ folder, port: freePort(), upstreamUrl });
  // Without Node, Bun puts itself in its place.
  if (launch.command[0] === "node") await requireNode();
  const workFolder = mkdtempSync(join(tmpdir(), "tollgate-peer-"));
  const child = await spawn(launch, workFolder);
  async function stop(): Promise<void> {
    child.kill("SIGKILL");
    await child.exited;
    rmSync(workFolder, { recursive: true, force: true });
  }
  try {
    const target = await untilAnswering(peer, launch, workFolder, child);
    return { pid: child.pid, target, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const LOG = "printed.txt";

async function spawn({ command, environment, files }: Launch, folder: string) {
  for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  const log = Bun.file(join(folder, LOG));
  const { PATH = "" } = process.env;
  return Bun.spawn([...command], {
    cwd: folder,
    env: { PATH, HOME: folder, ...environment },
    // Never written to. It ends with this process.
    stdin: "pipe",
    stdout: log,
    stderr: log,
  });
}

async function untilAnswering(
  { model }: Peer,
  { targetOf }: Launch,
  folder: string,
  child: Bun.Subprocess,
): Promise<Target> {
  const log = Bun.file(join(folder, LOG));
  const endMs = performance.now() + START_MS_MAX;
  let fault = "it prints no address";
  while (performance.now() < endMs && child.exitCode === null) {
    const target = targetOf(await log.text());
    if (target) {
      fault = await probe(target, model);
      if (fault === "") return target;
    }
    await Bun.sleep(POLL_MS);
  }
  if (child.exitCode === null) throw new Error(`does not get ready: ${fault}`);
  throw new Error(`ends at its start: ${(await log.text()).trim().split("\n").at(-1)}`);
}

/** Sends one request and returns what is wrong with the answer, or "". */
async function probe({ url, secret, path, headers }: Target, model: string): Promise<string> {
  try {
    const answer = await fetch(url + (path ?? "/v1/chat/completions"), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}`, ...headers },
      body: requestBody({ model, stream: false }),
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const body = await answer.text();
    return answer.ok ? (faultOf(body, false) ?? "") : `status ${answer.status}`;
  } catch {
    return "it does not answer";
  }
}
