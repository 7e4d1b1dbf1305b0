import { NO_SHARD } from "../limiter/redis/cluster.ts";
import { connectRedis, type RedisConnection } from "../limiter/redis/connection.ts";
import type { RedisLocation } from "../limiter/redis/location.ts";
import { createRedisStore } from "../limiter/redis/store.ts";
import { within } from "../time.ts";

type Client = RedisConnection["client"];
type Server = Exclude<Client, { nodes: unknown }>;

/** A server that says nothing at all is given up after this. */
const ANSWER_MS = 3_000;
const VERSION_MIN = [6, 2] as const;
/** Whose place in Redis is tried; there is no such account. */
const ACCOUNT = "check";

const CLUSTER_DOWN = "names a cluster that is down, expected one that serves all its slots";

/** What Redis and the connection say, as "what is wrong, what is expected"; the first that fits counts. */
const SAYS: readonly (readonly [pattern: RegExp, fault: string])[] = [
  [
    /WRONGPASS|NOAUTH|invalid password/,
    "has a user or a password that the server refuses, expected ones that it accepts",
  ],
  [/\bDB index\b|invalid DB/i, "names a database that the server does not have, expected one that it has"],
  [
    /NOPERM|can't run this command/,
    "names a user who may not run the limiter's scripts, expected one who may, on keys that begin with tollgate:",
  ],
  [
    /OOM|NOREPLICAS|MISCONF/,
    "names a server that takes nothing at present, expected one that can be written to",
  ],
  [/unknown command.*sentinel/i, "names a server that is no sentinel, expected redis://HOST:PORT for it"],
  [
    /No such master|invalid reply: null/,
    "names a master that the sentinels do not know, expected one that they watch",
  ],
  [/cluster support disabled/, "names a server that is no cluster, expected redis://HOST:PORT for it"],
  [/CLUSTERDOWN|Cluster isn't ready/, CLUSTER_DOWN],
  [
    /CERT|UNABLE_TO_|SELF_SIGNED| certificate/,
    "names a server without a common trust, expected certificates that both sides trust: see REDIS_TLS_CA",
  ],
  [
    /RESP type|Protocol error|WRONG_VERSION|EPROTO/i,
    "names a server that does not speak Redis, expected Redis, in TLS or not as the URL says",
  ],
];

const SILENT =
  "names a server that cannot be reached, expected Redis to answer, in TLS or not as the URL says";

/**
 * Why the limiter's Redis cannot be used, as "path: what is wrong, what is expected"; nothing without one.
 * Repeats nothing that it said, counts for nobody, ends after 3 s at most.
 */
export async function findRedisFault(location: RedisLocation | undefined): Promise<string | undefined> {
  if (!location) return undefined;
  const connection = connectRedis(location);
  const said: string[] = [];
  try {
    const fault = await within(ANSWER_MS, findFault(connection, said), () => explain(said));
    return fault && `REDIS_URL: ${fault}`;
  } finally {
    connection.close();
  }
}

async function findFault(connection: RedisConnection, said: string[]): Promise<string | undefined> {
  const { client, shardOf } = connection;
  try {
    await untilReady(client, said);
    const servers = "nodes" in client ? client.nodes("master") : [client];
    const faults = await Promise.all(servers.map((server) => findServerFault(server, client, said)));
    const fault = faults.find((each) => each !== undefined);
    if (fault !== undefined) return fault;
    if (shardOf(ACCOUNT) === NO_SHARD) return CLUSTER_DOWN;
    await createRedisStore(connection, { patienceMs: ANSWER_MS }).probe(ACCOUNT);
    return undefined;
  } catch (error) {
    return explain([...said, printError(error)]);
  }
}

/** Rejects at the first error: the connection would go on trying. */
async function untilReady(client: Client, said: string[]): Promise<void> {
  if (client.status === "ready") return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.once("ready", resolve);
  client.once("error", reject);
  // Of one sentinel or node, while there may be others.
  for (const event of ["sentinelError", "node error"]) {
    client.on(event, (error: unknown) => said.push(printError(error)));
  }
  await promise;
}

function explain(said: readonly string[]): string {
  const found = SAYS.find(([pattern]) => said.some((text) => pattern.test(text)));
  return found?.[1] ?? SILENT;
}

function printError(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error ? `${error.code} ${error.message}` : error.message;
}

/** What the limiter would stumble over on a server that lets us in. */
async function findServerFault(server: Server, client: Client, said: string[]): Promise<string | undefined> {
  await untilReady(server, said);
  const info = await readInfo(server);
  const mode = info.get("redis_mode") ?? info.get("server_mode");
  if (mode === "sentinel") return "names a sentinel, expected redis+sentinel://HOST,HOST/MASTER for it";
  if (mode === "cluster" && !client.isCluster) {
    return "names a node of a cluster, expected redis+cluster://HOST,HOST for it";
  }
  if (info.get("role") === "slave") return "names a replica, expected its master";
  const version = info.get("redis_version");
  if (version === undefined || isRedisNewEnough(version)) return undefined;
  return `names a Redis that is too old, expected version ${VERSION_MIN.join(".")} or later`;
}

/** Fields by name. None when the server refuses to show them: the limiter does not need them. */
async function readInfo(server: Server): Promise<ReadonlyMap<string, string>> {
  const text = await server.info().catch((error: unknown) => {
    if (error instanceof Error && error.name === "ReplyError") return "";
    throw error;
  });
  const lines = text.split("\r\n").map((line) => /^(\w+):(.*)$/.exec(line));
  return new Map(lines.flatMap((match) => (match ? [[match[1] ?? "", match[2] ?? ""]] : [])));
}

/** Whether a version can run the limiter's scripts, as INFO prints it. */
export function isRedisNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]);
}
