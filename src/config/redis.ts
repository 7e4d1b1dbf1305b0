import type { RedisLocation } from "../limiter/redis/location.ts";
import type { Environment } from "./placeholders.ts";
import type { Problems } from "./problems.ts";
import { parseRedisUrl, type Refuse } from "./redis-url.ts";
import { nameTlsVariables, readTlsFiles } from "./tls-files.ts";

/** Reads `REDIS_URL` and `REDIS_TLS_*`; `undefined` when there is no Redis. */
export function readRedis(
  environment: Environment,
  folder: string,
  problems: Problems,
): RedisLocation | undefined {
  const url = environment.REDIS_URL;
  const isEncrypted = /^rediss[:+]/.test(url ?? "");
  const tls = isEncrypted ? readTlsFiles("REDIS", { environment, folder }, problems) : undefined;
  if (!isEncrypted) refuseTlsFiles(environment, problems);
  const location = url ? parseRedisUrl(url, refuseUrl(problems)) : undefined;
  return location && { ...location, tls };
}

function refuseUrl(problems: Problems): Refuse {
  return (wrong, expected) => {
    problems.add(["REDIS_URL"], wrong, expected);
    return undefined;
  };
}

/** What was set up to be encrypted must not be sent in plain text. */
function refuseTlsFiles(environment: Environment, problems: Problems): void {
  for (const name of Object.values(nameTlsVariables("REDIS"))) {
    if (!environment[name]) continue;
    problems.add([name], "is set, though REDIS_URL is not encrypted", "a REDIS_URL that begins with rediss");
  }
}
