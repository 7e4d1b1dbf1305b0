import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp-folder.ts";
import type { Agent } from "./agent/agent.ts";
import { onInterrupt } from "./interruption.ts";
import type { Task } from "./task.ts";

/** The observable result of one run of an agent. */
export interface AgentRun {
  /** Negative when the agent was killed at its timeout. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Content of the file that the task asks for; `undefined` when there is none. */
  readonly fileText: string | undefined;
  readonly ms: number;
}

export interface RunOptions {
  readonly program: string;
  readonly agent: Agent;
  readonly task: Task;
  readonly gatewayUrl: string;
  readonly key: string;
}

/** Many times the duration of a task, even on a busy machine. */
const RUN_MAX_MS = 120_000;
const SET_UP_MAX_MS = 30_000;
/** A proxy address without a listener: connections that would leave the loopback interface fail at once. */
const DEAD_PROXY = "http://127.0.0.1:9";

/** Runs an agent in an empty folder, with an empty home and no network but the loopback interface. */
export async function runAgent({ program, agent, task, gatewayUrl, key }: RunOptions): Promise<AgentRun> {
  const folder = tempFolder();
  const [home, work] = [join(folder, "home"), join(folder, "work")];
  for (const each of [home, work]) mkdirSync(each);
  const place = { home, gatewayUrl, key };
  if (agent.setUp) await setUp([program, ...agent.setUp(place)], home, work);
  const { args, environment } = agent.start(place, task);
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
    rmSync(folder, { recursive: true, force: true });
  });
  const timer = setTimeout(() => killGroup(child.pid), RUN_MAX_MS);
  const texts = [new Response(child.stdout).text(), new Response(child.stderr).text()] as const;
  const exitCode = await child.exited;
  const ms = performance.now() - startedMs;
  clearTimeout(timer);
  killGroup(child.pid);
  const [stdout, stderr] = await Promise.all(texts);
  const file = Bun.file(join(work, task.fileName));
  const fileText = (await file.exists()) ? await file.text() : undefined;
  rmSync(folder, { recursive: true, force: true });
  removeCallback();
  return { exitCode: child.signalCode === null ? exitCode : -1, stdout, stderr, fileText, ms };
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
