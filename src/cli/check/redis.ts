import { NO_SHARD } from "../../limiter/redis/cluster.ts";
import type { RedisLocation } from "../../limiter/redis/location.ts";
import { connectRedis, type RedisConnection } from "../../limiter/redis/server.ts";
import { createRedisStore } from "../../limiter/redis/store.ts";
import { within } from "../../platform.ts";

type Client = RedisConnection["client"];
type Server = Exclude<Client, { nodes: unknown }>;

/** Maximum duration of the whole check. */
const ANSWER_MS = 3_000;
const VERSION_MIN = [6, 2] as const;
/** Id of an account that does not exist, for a trial of the limiter's scripts. */
const ACCOUNT = "check";

const CLUSTER_DOWN = "names a cluster that is down, expected one that serves all its slots";

/** Problems by a pattern in the errors of Redis and of the connection. The first match counts. */
const ERROR_PROBLEMS: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [
    /WRONGPASS|NOAUTH|invalid password/,
    "has a user or a password that the server rejects, expected ones that it accepts",
  ],
  [/\bDB index\b|invalid DB/i, "names a database that the server does not have, expected one that it has"],
  [
    /NOPERM|can't run this command/,
    "names a user who may not run the limiter's scripts, expected one who may, on keys that begin with tollgate:",
  ],
  [/OOM|NOREPLICAS|MISCONF/, "names a server that rejects writes, expected one that accepts them"],
  [/unknown command.*sentinel/i, "names a server that is not a sentinel, expected redis://HOST:PORT for it"],
  [
    /No such master|invalid reply: null/,
    "names a master that the sentinels do not know, expected one that they watch",
  ],
  [/cluster support disabled/, "names a server that is not a cluster, expected redis://HOST:PORT for it"],
  [/CLUSTERDOWN|Cluster isn't ready/, CLUSTER_DOWN],
  [
    /CERT|UNABLE_TO_|SELF_SIGNED| certificate/,
    "names a server with an untrusted certificate, expected certificates that both sides trust: see REDIS_TLS_CA",
  ],
  [
    /RESP type|Protocol error|WRONG_VERSION|EPROTO/i,
    "names a server that does not speak Redis, expected Redis, with or without TLS as in the URL",
  ],
];

const NO_ANSWER =
  "names a server that cannot be reached, expected Redis to answer, with or without TLS as in the URL";

/**
 * Returns why the limiter's Redis cannot be used, as "path: what is wrong, expected something else". Returns
 * `undefined` when it can be used, and without one. The text contains nothing that Redis sent. Counts for no
 * account, and ends after 3 s at most.
 */
export async function findRedisProblem(location: RedisLocation | undefined): Promise<string | undefined> {
  if (!location) return undefined;
  const connection = connectRedis(location);
  const errors: string[] = [];
  try {
    const problem = await within(ANSWER_MS, findProblem(connection, errors), () => explain(errors));
    return problem && `REDIS_URL: ${problem}`;
  } finally {
    connection.close();
  }
}

async function findProblem(connection: RedisConnection, errors: string[]): Promise<string | undefined> {
  const { client, shardOf } = connection;
  try {
    await untilReady(client, errors);
    const servers = "nodes" in client ? client.nodes("master") : [client];
    const problems = await Promise.all(servers.map((server) => findServerProblem(server, client, errors)));
    const problem = problems.find((each) => each !== undefined);
    if (problem !== undefined) return problem;
    if (shardOf(ACCOUNT) === NO_SHARD) return CLUSTER_DOWN;
    await createRedisStore(connection, { timeoutMs: ANSWER_MS }).probe(ACCOUNT);
    return undefined;
  } catch (error) {
    return explain([...errors, formatError(error)]);
  }
}

/** Rejects at the first error, because the connection itself would retry. */
async function untilReady(client: Client, errors: string[]): Promise<void> {
  if (client.status === "ready") return;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.once("ready", resolve);
  client.once("error", reject);
  // Errors of one sentinel or node are collected only: another one may answer.
  for (const event of ["sentinelError", "node error"]) {
    client.on(event, (error: unknown) => errors.push(formatError(error)));
  }
  await promise;
}

function explain(errors: readonly string[]): string {
  const found = ERROR_PROBLEMS.find(([pattern]) => errors.some((text) => pattern.test(text)));
  return found?.[1] ?? NO_ANSWER;
}

function formatError(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error ? `${error.code} ${error.message}` : error.message;
}

/** Checks role, mode and version of a server that accepts the connection. */
async function findServerProblem(
  server: Server,
  client: Client,
  errors: string[],
): Promise<string | undefined> {
  await untilReady(server, errors);
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

/** Returns the fields of INFO; none when the user may not run it, as the limiter does not need it. */
async function readInfo(server: Server): Promise<ReadonlyMap<string, string>> {
  const text = await server.info().catch((error: unknown) => {
    if (error instanceof Error && error.name === "ReplyError") return "";
    throw error;
  });
  const lines = text.split("\r\n").map((line) => /^(\w+):(.*)$/.exec(line));
  return new Map(lines.flatMap((match) => (match ? [[match[1] ?? "", match[2] ?? ""]] : [])));
}

/** Whether a version of INFO, such as "7.0.15", is 6.2 or later. */
export function isRedisNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > VERSION_MIN[0] || (major === VERSION_MIN[0] && minor >= VERSION_MIN[1]);
}
