import { isIPv6 } from "node:net";
import type { RedisHost, RedisLocation } from "../limiter/redis/location.ts";
import { parseEndpoint } from "./endpoint.ts";

/** Takes what is wrong with a URL and what is expected; neither repeats any of it, for it may hold a password. */
export type Refuse = (wrong: string, expected: string) => undefined;

type Kind = RedisLocation["kind"];
type Login = Pick<RedisLocation, "username" | "password">;

interface Form {
  readonly defaultPort: number;
  readonly path: RegExp;
  readonly pathFault: readonly [wrong: string, expected: string];
}

const FORMS: Readonly<Record<Kind, Form>> = {
  single: {
    defaultPort: 6_379,
    path: /^(?:\/(?<db>\d{1,9})?)?$/,
    pathFault: ["has a path that is no number of a database", "redis://HOST:PORT/NUMBER"],
  },
  sentinel: {
    defaultPort: 26_379,
    path: /^\/(?<masterName>[\w.-]{1,255})(?:\/(?<db>\d{1,9})?)?$/,
    pathFault: ["does not name its master", "redis+sentinel://HOST,HOST/MASTER or …/MASTER/NUMBER"],
  },
  cluster: {
    defaultPort: 6_379,
    path: /^(?:\/(?<db>0)?)?$/,
    pathFault: ["has a path", "none: a cluster has no other database than 0"],
  },
};

/** Kind, user and password, hosts, path, and what may not follow. */
const PARTS =
  /^rediss?(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>[^?#]*)(?<rest>.*)$/s;

/** Reads every form of `REDIS_URL`; `undefined` when it is refused. Nothing in it is passed over. */
export function parseRedisUrl(url: string, refuse: Refuse): Omit<RedisLocation, "tls"> | undefined {
  const parts = PARTS.exec(url)?.groups;
  if (!parts) return refuse("is no URL of Redis", "redis://…, redis+sentinel://… or redis+cluster://…");
  const { login, hosts = "", path = "", rest = "" } = parts;
  // First, because what is behind it may be a piece of a password.
  if ((path + rest).includes("@")) return refuse("has an @ behind its hosts", "% codes in user and password");
  if (rest !== "") return refuse("has parameters", "a URL that ends with its path: there are none");
  // Safe because the pattern knows no other kinds.
  const kind = (parts.kind ?? "single") as Kind;
  const place = readPath(kind, path, refuse);
  const who = readLogin(login, refuse);
  const where = readHosts(kind, hosts, refuse);
  return place && who && where && { kind, hosts: where, ...place, ...who };
}

function readPath(kind: Kind, path: string, refuse: Refuse) {
  const { path: pattern, pathFault } = FORMS[kind];
  const groups = pattern.exec(path)?.groups;
  if (!groups) return refuse(...pathFault);
  return { masterName: groups.masterName, db: Number(groups.db ?? 0) };
}

/** A user without a password, or with an empty one, would not be said to Redis: hence neither is allowed. */
function readLogin(text: string | undefined, refuse: Refuse): Login | undefined {
  if (text === undefined) return { username: undefined, password: undefined };
  const [, user = "", secret = ""] = /^([^:]*):(.+)$/s.exec(text) ?? [];
  if (secret === "") return refuse("has an @ without a password before it", "USER:PASSWORD@ or :PASSWORD@");
  try {
    return { username: decodeURIComponent(user) || undefined, password: decodeURIComponent(secret) };
  } catch {
    return refuse("has a % in user or password that begins no code", "%25 for a % itself");
  }
}

function readHosts(kind: Kind, text: string, refuse: Refuse): readonly RedisHost[] | undefined {
  const hosts = text.split(",").map((each) => readHost(each, FORMS[kind].defaultPort));
  if (!hosts.every((host) => host !== undefined)) {
    return refuse("names a host that is none", "HOST, HOST:PORT or [ADDRESS]:PORT");
  }
  if (kind === "single" && hosts.length > 1) {
    return refuse("names several hosts", "one, or redis+sentinel:// or redis+cluster:// before them");
  }
  return hosts;
}

function readHost(text: string, defaultPort: number): RedisHost | undefined {
  const endpoint = parseEndpoint(text) ?? parseEndpoint(`${text}:${defaultPort}`);
  if (!endpoint || endpoint.port === 0) return undefined;
  return endpoint.host.includes(":") && !isIPv6(endpoint.host) ? undefined : endpoint;
}
