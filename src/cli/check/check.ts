import { dirname } from "node:path";
import { type Config, loadConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/problems.ts";
import { describeLocation } from "../../db/location.ts";
import { describeRedis } from "../../limiter/redis/location.ts";
import type { CommandResult } from "../command.ts";
import { findDatabaseProblem, findFolderProblem } from "./database.ts";
import { findLedgerProblem } from "./ledger.ts";
import { findRedisProblem } from "./redis.ts";
import { findUpstreamProblem } from "./upstream.ts";

/**
 * Checks the configuration and, when it has no problems, database, data folder, ledger, Redis and upstreams.
 * Starts, creates and changes nothing.
 */
export async function runCheck(): Promise<CommandResult> {
  try {
    const config = loadConfig();
    return report(await findProblems(config), config);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return report(thrown.problems, undefined);
    throw thrown;
  }
}

async function findProblems(config: Config): Promise<readonly string[]> {
  const problems = await Promise.all([
    findDatabaseProblem(config.database),
    findDataFolderProblem(config),
    findLedgerProblem(config.ledger),
    findRedisProblem(config.limiter.redis),
    ...config.upstreams.map((upstream) => findUpstreamProblem(upstream)),
  ]);
  return problems.filter((problem) => problem !== undefined);
}

/** Skips the folder of the SQLite file, which is checked with the file. */
function findDataFolderProblem({ database, dataFolder }: Config): string | undefined {
  if (database.dialect === "sqlite" && dirname(database.path) === dataFolder) return undefined;
  const problem = findFolderProblem(dataFolder);
  return problem && `TOLLGATE_DATA: ${problem}`;
}

function report(problems: readonly string[], config: Config | undefined): CommandResult {
  const json = {
    ok: problems.length === 0,
    problems,
    database: config ? describeLocation(config.database) : null,
    ledger: config?.ledger.remote?.address ?? null,
    redis: config?.limiter.redis ? describeRedis(config.limiter.redis) : null,
    models: config?.models.map(({ id }) => id) ?? [],
    upstreams: config?.upstreams.map(({ name }) => name) ?? [],
  };
  if (problems.length > 0) return { json, text: problems.join("\n"), failed: true };
  const text = `All is well: ${json.models.length} models, ${json.upstreams.length} upstreams, database ${json.database}.`;
  return { json, text: json.redis === null ? text : `${text} Limits are counted in Redis: ${json.redis}.` };
}
