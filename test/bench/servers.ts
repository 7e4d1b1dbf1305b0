import { type PostgresServer, startPostgresServer } from "../support/postgres-server.ts";
import { type RedisServer, startRedisServer } from "../support/redis-server.ts";
import type { Form } from "./form.ts";
import { cpuUs, cpuUsOfTree } from "./process-stats.ts";

/** CPU time of the servers of a gateway, in microseconds. Absent for a server that does not run. */
export interface ServerCpu {
  readonly postgres?: number;
  readonly redis?: number;
}

/** Private servers for gateways, as the tests start them. PostgreSQL has its default settings. */
export interface BenchServers {
  /** Environment of a new gateway of this form, with an empty database of its own. */
  environmentFor(form: Form): Promise<Record<string, string>>;
  /** CPU time so far. */
  cpu(): ServerCpu;
  stop(): Promise<void>;
}

/** Starts the servers that any of these forms needs. */
export async function startServers(forms: readonly Form[]): Promise<BenchServers> {
  const isNeeded = (isOf: (form: Form) => boolean) => forms.some(isOf);
  const postgres = isNeeded(({ database }) => database === "postgres")
    ? await startPostgresServer()
    : undefined;
  const redis = isNeeded(({ hasRedis }) => hasRedis) ? await startRedisServer() : undefined;
  let gateways = 0;
  return {
    async environmentFor({ database, hasRedis }) {
      gateways += 1;
      return {
        ...(database === "postgres" && { DATABASE_URL: await createDatabase(postgres, `bench_${gateways}`) }),
        ...(hasRedis && { REDIS_URL: `${redis?.url}/${gateways}` }),
      };
    },
    cpu: () => ({
      ...(postgres && { postgres: cpuUsOfTree(postgres.pid()) }),
      ...(redis && { redis: cpuUs(redis.pid()) }),
    }),
    async stop() {
      await Promise.all(
        [postgres, redis].map((server: PostgresServer | RedisServer | undefined) => server?.stop()),
      );
    },
  };
}

async function createDatabase(server: PostgresServer | undefined, name: string): Promise<string> {
  if (!server) throw new Error("PostgreSQL was not started");
  const client = new Bun.SQL(server.url, { max: 1 });
  await client.unsafe(`CREATE DATABASE ${name}`).finally(() => client.close());
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}
