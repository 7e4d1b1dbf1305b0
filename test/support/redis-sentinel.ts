import type { RedisLocation } from "../../src/limiter/redis/location.ts";
import { type RedisServer, startRedisServer } from "./redis-server.ts";
import { until } from "./until.ts";

/** A master, a replica, and a sentinel that promotes the replica within a few seconds. */
export interface RedisSentinel {
  readonly url: string;
  readonly location: RedisLocation;
  readonly sentinel: RedisServer;
  /** Returns the server that the sentinel names as the master. */
  master(): Promise<RedisServer>;
  /** Resolves when a server other than `master` is the master. */
  untilSwitched(master: RedisServer): Promise<RedisServer>;
  stop(): Promise<void>;
}

export interface RedisSentinelOptions {
  /** The password of the two servers and the sentinel. Default: none. */
  readonly password?: string;
  /** Whether the sentinel requires the password too. Default true. */
  readonly sentinelHasPassword?: boolean;
}

const NAME = "mymaster";

/** Starts a master, a replica and a sentinel. Resolves when the sentinel can promote the replica. */
export async function startRedisSentinel({
  password,
  sentinelHasPassword = true,
}: RedisSentinelOptions = {}): Promise<RedisSentinel> {
  const login = password === undefined ? {} : { password };
  const settings = {
    // Sends a replica its data at once instead of waiting for more replicas.
    "repl-diskless-sync-delay": "0",
    ...(password === undefined ? {} : { masterauth: password }),
  };
  const [first, second] = await Promise.all([
    startRedisServer({ ...login, settings }),
    startRedisServer({ ...login, settings }),
  ]);
  const servers = [first, second];
  await second.ask("REPLICAOF", "127.0.0.1", first.port);
  await untilReady(async () =>
    `${await second.ask("INFO", "replication")}`.includes("master_link_status:up"),
  );

  const sentinel = await startRedisServer({
    ...(sentinelHasPassword ? login : {}),
    isSentinel: true,
    settings: {
      [`sentinel monitor ${NAME}`]: `127.0.0.1 ${first.port} 1`,
      [`sentinel down-after-milliseconds ${NAME}`]: "500",
      [`sentinel failover-timeout ${NAME}`]: "4000",
      ...(password === undefined ? {} : { [`sentinel auth-pass ${NAME}`]: password }),
    },
  });
  await untilReady(
    async () =>
      `${await sentinel.ask("INFO", "sentinel")}`.includes("status=ok") && (await knowsReplica(sentinel)),
  );

  const master = async () => {
    const address = await sentinel.ask("SENTINEL", "get-master-addr-by-name", NAME);
    const port = Array.isArray(address) ? Number(address[1]) : undefined;
    const server = servers.find((each) => each.port === port);
    if (!server) throw new Error(`The sentinel names no server of ours: ${address}`);
    return server;
  };
  return {
    url: `redis+sentinel://${password === undefined ? "" : `:${password}@`}127.0.0.1:${sentinel.port}/${NAME}`,
    location: {
      ...first.location,
      kind: "sentinel",
      hosts: [{ host: "127.0.0.1", port: sentinel.port }],
      masterName: NAME,
    },
    sentinel,
    master,
    async untilSwitched(old) {
      await untilReady(async () => (await master()) !== old);
      const current = await master();
      await untilReady(async () => `${await current.ask("ROLE")}`.startsWith("master"));
      return current;
    },
    async stop() {
      await Promise.all([sentinel, ...servers].map((server) => server.stop()));
    },
  };
}

/** Whether the sentinel knows the replica. It can promote only such a replica. */
async function knowsReplica(sentinel: RedisServer): Promise<boolean> {
  const replicas = await sentinel.ask("SENTINEL", "replicas", NAME);
  if (!Array.isArray(replicas) || !Array.isArray(replicas[0])) return false;
  const [replica] = replicas;
  const value = (name: string) => replica[replica.indexOf(name) + 1];
  return value("flags") === "slave" && value("master-link-status") === "ok";
}

function untilReady(condition: () => Promise<boolean>): Promise<void> {
  return until(condition, () => "The servers of a sentinel did not get ready in time");
}
