import type { Subprocess } from "bun";

/** A server with a folder of its own that ends when the process that started it ends. */
export interface GuardedProcess {
  /** Everything that the server has printed. */
  output(): string;
  readonly hasEnded: () => boolean;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** Removes the guard and keeps the folder. For a server that was killed. */
  abandon(): Promise<void>;
}

/** How to start a server and how to end it. */
export interface GuardedCommand {
  readonly command: readonly string[];
  readonly folder: string;
  /** The signal that ends the server immediately. */
  readonly endSignal: "QUIT" | "TERM" | "KILL";
}

const ABANDON = "abandon";

/**
 * Reads standard input, which closes when the starting process ends, also after `kill -9`. Then ends the
 * server and removes its folder. Only the server keeps the output pipes open.
 */
const GUARD = `
folder=$1 signal=$2; shift 2
"$@" </dev/null &
server=$!
exec >/dev/null 2>&1
read -r word
if [ "$word" = ${ABANDON} ]; then wait $server; exit; fi
kill -$signal $server 2>/dev/null
wait $server
rm -rf "$folder"
`;

const running = new Set<GuardedProcess>();

/** Starts a server under a guard process. */
export function startGuarded({ command, folder, endSignal }: GuardedCommand): GuardedProcess {
  const guard = Bun.spawn(["sh", "-c", GUARD, "guard", folder, endSignal, ...command], {
    cwd: "/",
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    // In a session of its own, so that an interrupt from the keyboard reaches the tests only.
    detached: true,
  });
  guard.unref();
  const printed = [collect(guard.stdout), collect(guard.stderr)];
  const server: GuardedProcess = {
    output: () => printed.map(({ text }) => text).join(""),
    hasEnded: () => printed.every(({ hasEnded }) => hasEnded),
    async stop() {
      running.delete(server);
      await guard.stdin.end();
      await guard.exited;
    },
    async abandon() {
      running.delete(server);
      await guard.stdin.write(`${ABANDON}\n`);
      await guard.stdin.end();
      await guard.exited;
    },
  };
  running.add(server);
  return server;
}

/** Stops every server that this process has started. */
export async function stopServers(): Promise<void> {
  await Promise.all([...running].map((server) => server.stop()));
}

function collect(stream: Subprocess<"pipe", "pipe", "pipe">["stdout"]): { text: string; hasEnded: boolean } {
  const collected = { text: "", hasEnded: false };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true });
  };
  void read()
    // On a read error, the output up to that point is returned.
    .catch(() => {})
    .finally(() => {
      collected.hasEnded = true;
    });
  return collected;
}

/**
 * Kills a process and its children with SIGKILL. Stops the parent first, so that it starts no more children.
 */
export async function killWithChildren(parent: number): Promise<void> {
  signal(parent, "SIGSTOP");
  const family = [parent, ...childrenOf(parent)];
  for (const pid of family) signal(pid, "SIGKILL");
  while (isAnyAlive(family)) await Bun.sleep(5);
}

function childrenOf(parent: number): readonly number[] {
  const rows = listProcesses("-A", "-o", "pid=,ppid=").map((line) => line.split(/\s+/).map(Number));
  return rows.flatMap(([pid, ppid]) => (pid && ppid === parent ? [pid] : []));
}

/** A zombie process counts as dead. */
function isAnyAlive(pids: readonly number[]): boolean {
  return listProcesses("-o", "stat=", "-p", pids.join(",")).some((state) => !state.startsWith("Z"));
}

function listProcesses(...options: string[]): readonly string[] {
  const lines = Bun.spawnSync(["ps", ...options])
    .stdout.toString()
    .split("\n");
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}

/** Does nothing when the process has ended. */
function signal(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
