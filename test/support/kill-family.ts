/**
 * Ends a process and its children with SIGKILL, so that none of them is left to finish anything. The parent
 * is stopped first: it starts no more children while they are listed.
 */
export async function killFamily(parent: number): Promise<void> {
  signal(parent, "SIGSTOP");
  const family = [parent, ...childrenOf(parent)];
  for (const pid of family) signal(pid, "SIGKILL");
  while (isAnyAlive(family)) await Bun.sleep(5);
}

function childrenOf(parent: number): readonly number[] {
  const rows = listProcesses("-A", "-o", "pid=,ppid=").map((line) => line.split(/\s+/).map(Number));
  return rows.flatMap(([pid, ppid]) => (pid && ppid === parent ? [pid] : []));
}

/** One that nobody has asked for its exit code yet is dead all the same. */
function isAnyAlive(pids: readonly number[]): boolean {
  return listProcesses("-o", "stat=", "-p", pids.join(",")).some((state) => !state.startsWith("Z"));
}

function listProcesses(...options: string[]): readonly string[] {
  const lines = Bun.spawnSync(["ps", ...options])
    .stdout.toString()
    .split("\n");
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}

/** Reaches nobody when the process has ended. */
function signal(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
