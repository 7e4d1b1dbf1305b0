import { isIPv6 } from "node:net";
import type { RedisHost, RedisLocation } from "../limiter/redis/location.ts";
import { nameTlsVariables, parseEndpoint, readTlsFiles } from "./endpoint.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";

/** Reads `REDIS_URL` and `REDIS_TLS_*`. Returns `undefined` without a Redis. */
export function readRedis(
  environment: Environment,
  folder: string,
  problems: Problems,
): RedisLocation | undefined {
  const url = environment.REDIS_URL;
  const isEncrypted = /^rediss[:+]/.test(url ?? "");
  const tls = isEncrypted ? readTlsFiles("REDIS", { environment, folder }, problems) : undefined;
  if (!isEncrypted) checkNoTlsFiles(environment, problems);
  const location = url ? parseRedisUrl(url, urlReporter(problems)) : undefined;
  return location && { ...location, tls };
}

/** Reads `REDIS_URL` again. Keeps the certificates of the running location. */
export function rereadRedis(
  running: RedisLocation | undefined,
  { REDIS_URL: url }: Environment,
  problems: Problems,
): RedisLocation | undefined {
  const location = running && url ? parseRedisUrl(url, urlReporter(problems)) : undefined;
  return location && { ...location, tls: running?.tls };
}

/** Reports TLS variables beside a `REDIS_URL` in plain text. */
function checkNoTlsFiles(environment: Environment, problems: Problems): void {
  for (const name of Object.values(nameTlsVariables("REDIS"))) {
    if (!environment[name]) continue;
    problems.add([name], "is set, though REDIS_URL is not encrypted", "a REDIS_URL that begins with rediss");
  }
}

function urlReporter(problems: Problems): ReportUrl {
  return (wrong, expected) => {
    problems.add(["REDIS_URL"], wrong, expected);
    return undefined;
  };
}

/** Reports a problem of the URL. Neither text may quote the URL, which may hold a password. */
export type ReportUrl = (wrong: string, expected: string) => undefined;

type Kind = RedisLocation["kind"];
type Login = Pick<RedisLocation, "username" | "password">;

/** What the URL of one kind of Redis looks like behind its hosts. */
interface UrlForm {
  readonly defaultPort: number;
  readonly path: RegExp;
  readonly pathProblem: readonly [wrong: string, expected: string];
}

const FORMS: Readonly<Record<Kind, UrlForm>> = {
  single: {
    defaultPort: 6_379,
    path: /^(?:\/(?<db>\d{1,9})?)?$/,
    pathProblem: ["has a path that is not a database number", "redis://HOST:PORT/NUMBER"],
  },
  sentinel: {
    defaultPort: 26_379,
    path: /^\/(?<masterName>[\w.-]{1,255})(?:\/(?<db>\d{1,9})?)?$/,
    pathProblem: ["does not name its master", "redis+sentinel://HOST,HOST/MASTER or …/MASTER/NUMBER"],
  },
  cluster: {
    defaultPort: 6_379,
    path: /^(?:\/(?<db>0)?)?$/,
    pathProblem: ["has a path", "none: a cluster has no other database than 0"],
  },
};

/** Splits a URL into kind, login, hosts, path, and the rest, which must be empty. */
const PARTS =
  /^rediss?(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<login>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>[^?#]*)(?<rest>.*)$/s;

/** Parses every form of `REDIS_URL`. Returns `undefined` after it reported a problem. Ignores no part. */
export function parseRedisUrl(url: string, report: ReportUrl): Omit<RedisLocation, "tls"> | undefined {
  const parts = PARTS.exec(url)?.groups;
  if (!parts) return report("is not a Redis URL", "redis://…, redis+sentinel://… or redis+cluster://…");
  const { login, hosts = "", path = "", rest = "" } = parts;
  // Checked first: what follows such an @ may be part of a password.
  if ((path + rest).includes("@")) return report("has an @ after its hosts", "% codes in user and password");
  if (rest !== "") return report("has parameters", "a URL without parameters");
  // Safe because the pattern matches no other kinds.
  const kind = (parts.kind ?? "single") as Kind;
  const parsedPath = parsePath(kind, path, report);
  const parsedLogin = parseLogin(login, report);
  const parsedHosts = parseHosts(kind, hosts, report);
  return (
    parsedPath && parsedLogin && parsedHosts && { kind, hosts: parsedHosts, ...parsedPath, ...parsedLogin }
  );
}

function parsePath(kind: Kind, path: string, report: ReportUrl) {
  const { path: pattern, pathProblem } = FORMS[kind];
  const groups = pattern.exec(path)?.groups;
  if (!groups) return report(...pathProblem);
  return { masterName: groups.masterName, db: Number(groups.db ?? 0) };
}

/** Requires a password beside an @: the client would not send a user without one to Redis. */
function parseLogin(text: string | undefined, report: ReportUrl): Login | undefined {
  if (text === undefined) return { username: undefined, password: undefined };
  const [, user = "", secret = ""] = /^([^:]*):(.+)$/s.exec(text) ?? [];
  if (secret === "") return report("has an @ without a password before it", "USER:PASSWORD@ or :PASSWORD@");
  try {
    return { username: decodeURIComponent(user) || undefined, password: decodeURIComponent(secret) };
  } catch {
    return report("has an invalid % code in user or password", "%25 for a % itself");
  }
}

function parseHosts(kind: Kind, text: string, report: ReportUrl): readonly RedisHost[] | undefined {
  const hosts = text.split(",").map((each) => parseHost(each, FORMS[kind].defaultPort));
  if (!hosts.every((host) => host !== undefined)) {
    return report("has an invalid host", "HOST, HOST:PORT or [ADDRESS]:PORT");
  }
  if (kind === "single" && hosts.length > 1) {
    return report("has several hosts", "one, or redis+sentinel:// or redis+cluster:// before them");
  }
  return hosts;
}

function parseHost(text: string, defaultPort: number): RedisHost | undefined {
  const endpoint = parseEndpoint(text) ?? parseEndpoint(`${text}:${defaultPort}`);
  if (!endpoint || endpoint.port === 0) return undefined;
  return endpoint.host.includes(":") && !isIPv6(endpoint.host) ? undefined : endpoint;
}
