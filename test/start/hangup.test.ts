import { afterEach, describe, expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { tempFolder } from "../support/temp-folder.ts";
import { TOLLGATE } from "../support/tollgate-command.ts";

const started: Subprocess[] = [];
afterEach(() => {
  for (const each of started.splice(0)) each.kill("SIGKILL");
});

/** Starts a command on free ports, in a folder of its own. */
function start(
  name: "serve" | "ledger",
  environment: Readonly<Record<string, string>> = {},
): Subprocess<"ignore", "pipe", "ignore"> {
  const child = Bun.spawn([...TOLLGATE, name], { ...spawnOptions(environment), stdout: "pipe" });
  started.push(child);
  return child;
}

function spawnOptions(environment: Readonly<Record<string, string>>) {
  const ports = { PORT: "0", LEDGER_LISTEN: "off", METRICS_LISTEN: "off" };
  return {
    cwd: tempFolder(),
    env: { PATH: process.env.PATH ?? "", ...ports, ...environment },
    stdin: "ignore",
    stderr: "ignore",
  } as const;
}

/** Reads the output of a process until it contains a text. Throws when the process ends before. */
async function untilPrinted(stdout: ReadableStream<Uint8Array>, words: string): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stdout.values({ preventCancel: true })) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(words)) return;
  }
  throw new Error(`The process ended without printing "${words}": ${text}`);
}

describe("SIGHUP", () => {
  test("during the start does not end the gateway, and reloads the configuration afterwards", async () => {
    const pipe = join(tempFolder(), "pipe");
    await Bun.spawn(["mkfifo", pipe]).exited;
    const gateway = start("serve", { TOLLGATE_CONFIG: pipe });
    // Opens when the gateway begins to read its configuration, which then waits for this writer.
    const writer = await open(pipe, "w");
    gateway.kill("SIGHUP");
    await writer.write("# nothing but defaults\n");
    await writer.close();
    await untilPrinted(gateway.stdout, '"configuration unchanged');
    gateway.kill("SIGTERM");
    expect(await gateway.exited).toBe(0);
  });

  test("does not end a ledger process, which reads its secrets again", async () => {
    const ledger = start("ledger", { LEDGER_LISTEN: "127.0.0.1:0" });
    await untilPrinted(ledger.stdout, '"listening"');
    ledger.kill("SIGHUP");
    await untilPrinted(ledger.stdout, "secrets and exports unchanged");
    ledger.kill("SIGTERM");
    expect(await ledger.exited).toBe(0);
  });

  test("of a closed terminal ends the gateway that was started in it", async () => {
    const { promise: listening, resolve: listen } = Promise.withResolvers<void>();
    let printed = "";
    await using terminal = new Bun.Terminal({
      data(_terminal, bytes) {
        printed += Buffer.from(bytes).toString("latin1");
        if (printed.includes('"listening"')) listen();
      },
    });
    const gateway = Bun.spawn([...TOLLGATE, "serve"], { ...spawnOptions({}), terminal });
    started.push(gateway);
    await listening;
    terminal.close();
    // Repeated, as by kernel and shell: the first SIGHUP after the terminal is closed counts.
    while (gateway.exitCode === null) {
      gateway.kill("SIGHUP");
      await Promise.race([gateway.exited, Bun.sleep(20)]);
    }
    expect(await gateway.exited).toBe(0);
  });
});

test("a gateway whose log has no reader continues, and ends on SIGTERM", async () => {
  const gateway = start("serve");
  await untilPrinted(gateway.stdout, '"listening"');
  await gateway.stdout.cancel();
  for (let count = 0; count < 3; count++) {
    gateway.kill("SIGHUP");
    await Bun.sleep(150);
  }
  expect(gateway.exitCode).toBeNull();
  gateway.kill("SIGTERM");
  expect(await gateway.exited).toBe(0);
});
