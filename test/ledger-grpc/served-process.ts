import { join } from "node:path";
import { TOKEN } from "./served.ts";

/** A gRPC server of a ledger in its own process, which a test can stop, freeze and kill. */
export interface ServedProcess {
  readonly port: number;
  signal(name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void;
  /** Sends SIGKILL. Resolves when the process has exited. */
  kill(): Promise<void>;
}

/** Serves the ledger in `file`; port 0 binds any free port. Resolves when it listens. */
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
