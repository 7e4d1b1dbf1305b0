import { resolve } from "node:path";
import { SOURCES, TOLLGATE } from "./tollgate-command.ts";

const REPOSITORY = resolve(import.meta.dir, "../..");
/** Long enough for a busy machine. */
const START_MS = 120_000;

/** A Tollgate process, observed only from outside. */
interface RunningProcess {
  readonly pid: number;
  /** Everything printed to stdout. */
  stdout(): string;
  stderr(): string;
  signal(name: "SIGTERM" | "SIGKILL"): void;
  /** Resolves when the process has ended and both streams are read. */
  readonly exitCode: Promise<number>;
}

/** A gateway in a process of its own. */
export interface ServedProcess extends RunningProcess {
  readonly url: string;
}

/** The gRPC service of the ledger in a process of its own. */
export interface LedgerProcess extends RunningProcess {
  /** "127.0.0.1:PORT" */
  readonly address: string;
}

export interface ServeOptions {
  /** The working directory. The database is created below it. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The words that start the program. Default: {@link SOURCES} with `BUN_OPTIONS`, else {@link TOLLGATE}. */
  readonly program?: readonly string[];
  /** A command that wraps the process, such as a shell that sets a limit and then executes it. */
  readonly through?: readonly string[];
  /** Starts the package.json script in the repository instead of the entry file. */
  readonly throughScript?: boolean;
}

/**
 * Starts the gateway on a free port and waits until it is ready. Throws with its output if it does not start.
 */
export async function startServedProcess(options: ServeOptions): Promise<ServedProcess> {
  const running = launch("serve", options);
  const url = await waitForAddress(running, /"url":"(http:[^"]+)"/, async (address) => {
    const answer = await fetch(`${address}/readyz`).catch(() => undefined);
    return answer?.ok ?? false;
  });
  return { ...running, url };
}

/** Starts a gateway beside a ledger process. Like a supervisor, starts it again when a busy ledger was too late for it. */
export async function startBesideLedger(options: ServeOptions): Promise<ServedProcess> {
  for (;;) {
    const [started] = await Promise.allSettled([startServedProcess(options)]);
    if (started.status === "fulfilled") return started.value;
    if (!`${started.reason}`.includes("The ledger did not answer in time")) throw started.reason;
  }
}

/**
 * Starts the ledger on a free port and waits until it listens. Throws with its output if it does not start.
 */
export async function serveLedgerProcess(options: ServeOptions): Promise<LedgerProcess> {
  const environment = { LEDGER_LISTEN: "127.0.0.1:0", ...options.environment };
  const running = launch("ledger", { ...options, environment });
  return { ...running, address: await waitForAddress(running, /"ledger":"([^"]+)"/, async () => true) };
}

function launch(
  name: string,
  { folder, environment, program, throughScript, through = [] }: ServeOptions,
): RunningProcess {
  const words = program ?? (environment?.BUN_OPTIONS ? SOURCES : TOLLGATE);
  const command = throughScript ? [process.execPath, "run", "--silent", "tollgate"] : words;
  const child = Bun.spawn([...through, ...command, name], {
    cwd: throughScript ? REPOSITORY : folder,
    env: {
      ...{ PATH: process.env.PATH ?? "", PORT: "0", LEDGER_LISTEN: "off", METRICS_LISTEN: "off" },
      // Compiled as the test is: see test/run/run.ts.
      BUN_JSC_useFTLJIT: process.env.BUN_JSC_useFTLJIT ?? "1",
      ...environment,
    },
    stdout: "pipe",
    stderr: "pipe",
    // In a process group of its own, so that a signal reaches the gateway behind a script runner.
    detached: true,
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  return {
    pid: child.pid,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    signal: (signalName) => void signalGroup(child.pid, signalName),
    exitCode: child.exited.then(async (code) => {
      await Promise.all([stdout.ended, stderr.ended]);
      return code;
    }),
  };
}

/** Does nothing when the whole group has ended. */
function signalGroup(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

interface Collected {
  text: string;
  readonly ended: Promise<void>;
}

function collect(stream: ReadableStream<Uint8Array>): Collected {
  const collected = { text: "", ended: Promise.resolve() };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) collected.text += decoder.decode(chunk, { stream: true });
  };
  collected.ended = read();
  return collected;
}

/** Returns the address that the process prints to stdout, once it is ready there. */
async function waitForAddress(
  running: RunningProcess,
  pattern: RegExp,
  isReady: (address: string) => Promise<boolean>,
): Promise<string> {
  const deadline = performance.now() + START_MS;
  let hasEnded = false;
  void running.exitCode.then(() => {
    hasEnded = true;
  });
  while (performance.now() < deadline && !hasEnded) {
    const address = pattern.exec(running.stdout())?.[1];
    if (address && (await isReady(address))) return address;
    await Bun.sleep(20);
  }
  running.signal("SIGKILL");
  throw new Error(`The process did not start: ${running.stdout()}${running.stderr()}`);
}
