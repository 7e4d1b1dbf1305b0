import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import type { Agent } from "./agent/agent.ts";
import { whenInterrupted } from "./interruption.ts";
import type { Errand } from "./task.ts";

/** One run of an agent, from outside. */
export interface AgentRun {
  /** Negative when it was ended because its time was over. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What is in the file it was to make; `undefined` when there is none. */
  readonly fileText: string | undefined;
  readonly ms: number;
}

export interface RunOptions {
  readonly program: string;
  readonly agent: Agent;
  readonly errand: Errand;
  readonly gatewayUrl: string;
  readonly key: string;
}

/** Many times what an errand takes, also on a machine that is busy. */
const LONGEST_MS = 120_000;
/** Nobody listens there: whatever leaves the loopback ends at once. */
const NOWHERE = "http://127.0.0.1:9";

/** Runs an agent in an empty folder, with a home of its own and no way to anywhere but the loopback. */
export async function runAgent({ program, agent, errand, gatewayUrl, key }: RunOptions): Promise<AgentRun> {
  const folder = tempFolder();
  const [home, work] = [join(folder, "home"), join(folder, "work")];
  for (const each of [home, work]) mkdirSync(each);
  const { args, environment } = agent.start({ home, gatewayUrl, key }, errand);
  const startedMs = performance.now();
  const child = Bun.spawn([program, ...args], {
    cwd: work,
    env: { ...environmentIn(home), ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // A group of its own, so that what the agent has started ends with it.
    detached: true,
  });
  const forget = whenInterrupted(() => {
    killGroup(child.pid);
    rmSync(folder, { recursive: true, force: true });
  });
  const timer = setTimeout(() => killGroup(child.pid), LONGEST_MS);
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()] as const;
  const exitCode = await child.exited;
  const ms = performance.now() - startedMs;
  clearTimeout(timer);
  killGroup(child.pid);
  const [stdout, stderr] = await Promise.all(texts);
  const file = Bun.file(join(work, errand.fileName));
  const fileText = (await file.exists()) ? await file.text() : undefined;
  rmSync(folder, { recursive: true, force: true });
  forget();
  return { exitCode: child.signalCode === null ? exitCode : -1, stdout, stderr, fileText, ms };
}

function environmentIn(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: home,
    ...{ XDG_CONFIG_HOME: join(home, "config"), XDG_DATA_HOME: join(home, "data") },
    ...{ XDG_STATE_HOME: join(home, "state"), XDG_CACHE_HOME: join(home, "cache") },
    ...{ HTTP_PROXY: NOWHERE, HTTPS_PROXY: NOWHERE, ALL_PROXY: NOWHERE, NO_PROXY: "127.0.0.1" },
    ...{ http_proxy: NOWHERE, https_proxy: NOWHERE, all_proxy: NOWHERE, no_proxy: "127.0.0.1" },
  };
}

/** Reaches nobody when all of the group has ended. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
