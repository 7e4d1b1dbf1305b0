import { join, resolve } from "node:path";
import { requireChromium } from "../support/chromium.ts";
import { stopServers } from "../support/guarded-process.ts";
import { requireNode, requirePip, requirePython } from "../support/installed-programs.ts";
import { requirePostgres, startPostgresServer } from "../support/postgres-server.ts";
import { requirePrometheus } from "../support/prometheus.ts";
import { requireRedis, startRedisServer } from "../support/redis-server.ts";
import { createTemplates, type DatabaseTemplates, dropTemplates } from "../support/test-database.ts";

/** Variables of shared servers and databases. Without them, each test file starts and makes its own. */
export type SharedServers = Partial<
  Record<"TEST_DATABASE_URL" | "TEST_REDIS_URL" | keyof DatabaseTemplates, string>
>;

/**
 * Installs missing programs that tests start, where that is allowed. Installs one at a time, because Debian's
 * package manager serves one caller at a time. Ignores errors: the tests that need a program report them.
 */
export async function installPrograms(): Promise<void> {
  for (const install of [
    requirePostgres,
    requireRedis,
    requireNode,
    requirePython,
    requirePip,
    requireChromium,
    () => requirePrometheus(),
  ]) {
    await install().catch(() => undefined);
  }
}

/**
 * Builds the executable that is released, in a folder, for the tests that start processes: it starts in half the
 * time of the sources. Returns its path, or nothing where it cannot be built: the sources are started then.
 */
export async function buildExecutable(folder: string): Promise<string | undefined> {
  const outfile = join(folder, "tollgate");
  const build = Bun.spawn([process.execPath, "deploy/executable.ts", `--outfile=${outfile}`], {
    cwd: resolve(import.meta.dir, "../.."),
    stdio: ["ignore", "ignore", "inherit"],
  });
  return (await build.exited) === 0 ? outfile : undefined;
}

/** Removes what `startSharedServers` left on a server that outlives this process, and stops the others. */
export async function stopSharedServers({
  TEST_DATABASE_URL: url,
  ...servers
}: SharedServers): Promise<void> {
  if (url) await dropTemplates(url, servers);
  await stopServers();
}

/** Starts the shared servers that the environment does not name. They end with this process. */
export async function startSharedServers(): Promise<SharedServers> {
  const [database, redis] = await Promise.allSettled([
    process.env.TEST_DATABASE_URL || startPostgresServer({ isDurable: false }).then(({ url }) => url),
    process.env.TEST_REDIS_URL || startRedisServer().then(({ url }) => url),
  ]);
  return {
    ...(database.status === "fulfilled"
      ? { TEST_DATABASE_URL: database.value, ...(await createTemplates(database.value)) }
      : {}),
    ...(redis.status === "fulfilled" ? { TEST_REDIS_URL: redis.value } : {}),
  };
}
