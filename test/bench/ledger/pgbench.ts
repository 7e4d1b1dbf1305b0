import { join } from "node:path";

const SCALE = 10;
const CLIENTS = 32;

/** PostgreSQL's own benchmark on a server, with its standard TPC-B transactions. */
export interface Pgbench {
  /** Transactions a second. */
  run(ms: number): Promise<number>;
}

/** Fills the database of `url` with pgbench's tables. `binaries` is the folder of pgbench. */
export async function preparePgbench(binaries: string, url: string): Promise<Pgbench> {
  const call = async (...args: string[]) => {
    const child = Bun.spawn([join(binaries, "pgbench"), ...args, url], { stdout: "pipe", stderr: "pipe" });
    const [said, complained] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    if ((await child.exited) !== 0) throw new Error(`pgbench failed: ${complained}`);
    return said;
  };
  await call("--initialize", "--quiet", `--scale=${SCALE}`);
  return {
    async run(ms) {
      const seconds = Math.max(1, Math.round(ms / 1_000));
      const said = await call(`--client=${CLIENTS}`, "--jobs=2", `--time=${seconds}`, "--no-vacuum");
      const perSecond = /tps = ([\d.]+)/.exec(said)?.[1];
      if (perSecond === undefined) throw new Error(`pgbench said no rate: ${said}`);
      return Number(perSecond);
    },
  };
}
