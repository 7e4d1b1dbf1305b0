import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import type { Agent } from "./agent/agent.ts";
import type { Errand } from "./errand.ts";
import { onInterrupt } from "./interruption.ts";

/** The observable result of one run of an agent. */
export interface AgentRun {
  /** Negative when the agent was killed at its timeout. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Contents of the files of the errand, of those that there are. */
  readonly files: Readonly<Record<string, string>>;
  readonly ms: number;
}

export interface RunOptions {
  readonly program: string;
  readonly agent: Agent;
  readonly errand: Errand;
  readonly folders: Folders;
  readonly gatewayUrl: string;
  readonly key: string;
}

/** The empty folders of one run. */
interface Folders {
  readonly root: string;
  readonly home: string;
  readonly work: string;
}

export function createFolders(): Folders {
  const root = tempFolder();
  const [home, work] = [join(root, "home"), join(root, "work")];
  for (const each of [home, work]) mkdirSync(each);
  return { root, home, work };
}

/** Many times the duration of an errand, even on a busy machine. */
const RUN_MAX_MS = 240_000;
const SET_UP_MAX_MS = 30_000;
/** A proxy address without a listener: connections that would leave the loopback interface fail at once. */
const DEAD_PROXY = "http://127.0.0.1:9";

/** Runs an agent in an empty folder, with an empty home and no network but the loopback interface. Removes both. */
export async function runAgent(options: RunOptions): Promise<AgentRun> {
  const { program, agent, errand, gatewayUrl, key } = options;
  const { root, home, work } = options.folders;
  const place = { home, gatewayUrl, key };
  if (agent.setUp) await setUp([program, ...agent.setUp(place)], home, work);
  const { args, environment } = agent.start(place, errand);
  const startedMs = performance.now();
  const child = Bun.spawn([program, ...args], {
    cwd: work,
    env: { ...environmentIn(home), ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    // A process group of its own, so that the agent's child processes can be killed with it.
    detached: true,
  });
  const removeCallback = onInterrupt(() => {
    killGroup(child.pid);
    rmSync(root, { recursive: true, force: true });
  });
  const timer = setTimeout(() => killGroup(child.pid), RUN_MAX_MS);
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()] as const;
  const exitCode = await child.exited;
  const ms = performance.now() - startedMs;
  clearTimeout(timer);
  killGroup(child.pid);
  const [stdout, stderr] = await Promise.all(texts);
  const files: Record<string, string> = {};
  for (const name of Object.keys(errand.files)) {
    const file = Bun.file(join(work, name));
    if (await file.exists()) files[name] = await file.text();
  }
  rmSync(root, { recursive: true, force: true });
  removeCallback();
  return { exitCode: child.signalCode === null ? exitCode : -1, stdout, stderr, files, ms };
}

/** Runs the program to its end. A failed one shows in the run that follows. */
async function setUp(command: string[], home: string, cwd: string): Promise<void> {
  const options = { cwd, env: environmentIn(home), timeout: SET_UP_MAX_MS } as const;
  await Bun.spawn(command, { ...options, stdin: "ignore", stdout: "ignore", stderr: "ignore" }).exited;
}

function environmentIn(home: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    LANG: "C.UTF-8",
    HOME: home,
    TMPDIR: home,
    ...{ XDG_CONFIG_HOME: join(home, "config"), XDG_DATA_HOME: join(home, "data") },
    ...{ XDG_STATE_HOME: join(home, "state"), XDG_CACHE_HOME: join(home, "cache") },
    ...{ HTTP_PROXY: DEAD_PROXY, HTTPS_PROXY: DEAD_PROXY, ALL_PROXY: DEAD_PROXY, NO_PROXY: "127.0.0.1" },
    ...{ http_proxy: DEAD_PROXY, https_proxy: DEAD_PROXY, all_proxy: DEAD_PROXY, no_proxy: "127.0.0.1" },
  };
}

/** Kills a process group. Does nothing when all its processes have ended. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
