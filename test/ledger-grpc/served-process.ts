import { join } from "node:path";

export const TOKEN = "a-token-of-the-tests";

/** A ledger's server in a process of its own, for a test to stop, to freeze and to kill. */
export interface ServedProcess {
  readonly port: number;
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void;
  /** Kills it without a word; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Serves the ledger in `file`; port 0 is any that is free. Resolves when it listens. */
export async function serveProcess(file: string, port = 0): Promise<ServedProcess> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "serve-child.ts"), file, String(port), TOKEN],
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  const { value } = await child.stdout.getReader().read();
  const address = new TextDecoder().decode(value).trim();
  return {
    port: Number(address.split(":").at(-1)),
    signal: (name) => child.kill(name),
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}
