import { requireNode, requirePip, requirePython } from "../support/installed-programs.ts";
import { requirePostgres, startPostgresServer } from "../support/postgres-server.ts";
import { requireRedis, startRedisServer } from "../support/redis-server.ts";

/** Where tests find a server that all of them may use; without it each file starts one. */
export type SharedServers = Partial<Record<"TEST_DATABASE_URL" | "TEST_REDIS_URL", string>>;

/**
 * Installs the programs that tests start, where they are missing and that is allowed: one after the other, for
 * Debian's package manager serves one caller at a time. A test that has to go without one says what to do.
 */
export async function installPrograms(): Promise<void> {
  for (const install of [requirePostgres, requireRedis, requireNode, requirePython, requirePip]) {
    await install().catch(() => undefined);
  }
}

/** Starts the servers that the environment does not name. They end with this process. */
export async function startSharedServers(): Promise<SharedServers> {
  const [database, redis] = await Promise.allSettled([
    process.env.TEST_DATABASE_URL || startPostgresServer({ isDurable: false }).then(({ url }) => url),
    process.env.TEST_REDIS_URL || startRedisServer().then(({ url }) => url),
  ]);
  return {
    ...(database.status === "fulfilled" ? { TEST_DATABASE_URL: database.value } : {}),
    ...(redis.status === "fulfilled" ? { TEST_REDIS_URL: redis.value } : {}),
  };
}
