import type { Subprocess } from "bun";

/** A server whose files are in a folder of its own, and which never outlives the process that started it. */
export interface GuardedProcess {
  /** Everything the server printed so far. */
  output(): string;
  readonly hasEnded: () => boolean;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
  /** Takes the guard away and leaves the folder: for a server that was killed. */
  abandon(): Promise<void>;
}

export interface GuardedCommand {
  readonly command: readonly string[];
  readonly folder: string;
  /** What the server takes as: end at once. */
  readonly endSignal: "QUIT" | "TERM" | "KILL";
}

const ABANDON = "abandon";

/**
 * Its standard input ends with the process that started it, however that ends, `kill -9` included; then the
 * server is told to end, and its folder goes. Only the server keeps the outputs: they end with it.
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

/** Starts a server below a guard. */
export function startGuarded({ command, folder, endSignal }: GuardedCommand): GuardedProcess {
  const guard = Bun.spawn(["sh", "-c", GUARD, "guard", folder, endSignal, ...command], {
    cwd: "/",
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    // A session of its own: an interrupt from the keyboard ends the tests, and the guard hears of that.
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
    // What was printed before a failed read is all there is to show.
    .catch(() => {})
    .finally(() => {
      collected.hasEnded = true;
    });
  return collected;
}

/**
 * Ends a process and its children with SIGKILL, so that none of them is left to finish anything. The parent
 * is stopped first: it starts no more children while they are listed.
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
