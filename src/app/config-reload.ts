import { type ConfigChanges, compareConfigs, compareStorage, keepStartSettings } from "../config/changes.ts";
import {
  type Config,
  type LedgerProcessConfig,
  type Loaded,
  type LoadedConfig,
  rereadConfig,
  rereadLedgerConfig,
} from "../config/config.ts";
import { ConfigError } from "../config/problems.ts";
import { areSameSources, followSources, type Sources, type Watcher, watch } from "../config/sources.ts";
import { describeFault, type Log } from "../telemetry/log.ts";
import { warnOfKnownModels, warnOfPrices } from "./warnings.ts";

interface ReloadOptions<Settings> {
  /** The configuration that the process was started with. */
  readonly loaded: Loaded<Settings>;
  readonly apply: (config: Settings) => void;
  readonly log: Log;
}

/**
 * Reloads the configuration of a running gateway when its file or the file of a secret has changed, and on
 * request. Sources with any problem are rejected as a whole, and the previous configuration stays in force.
 */
export function startConfigReload({ loaded, apply, log }: ReloadOptions<Config>): Watcher {
  let running: LoadedConfig = loaded;
  return startReload(loaded, log, "configuration unchanged", async (sources) => {
    const next = await rereadConfig(running, sources);
    return () => {
      const { needRestart, ...changes } = compareConfigs(running.config, next.config);
      const config = keepStartSettings(running.config, next.config);
      apply(config);
      running = { ...next, config };
      if (Object.keys(changes.models).length > 0) {
        warnOfPrices(config.models, log);
        warnOfKnownModels(config, log);
      }
      return { changes, isChanged: hasAny(changes), needRestart };
    };
  });
}

/** Reloads the secrets of a running ledger process. Its other settings apply at the next start. */
export function startLedgerReload({ loaded, apply, log }: ReloadOptions<LedgerProcessConfig>): Watcher {
  let running = loaded;
  const unchanged = "secrets and exports unchanged, other ledger settings need a restart";
  return startReload(loaded, log, unchanged, async (sources) => {
    const next = rereadLedgerConfig(running, sources);
    return () => {
      const { settings, needRestart, database } = compareStorage(running.config, next.config);
      const config = { ...next.config, database };
      const areExportsKept = Bun.deepEquals(running.config.exports, config.exports);
      const changed = areExportsKept ? settings : [...settings, "exports"];
      apply(config);
      running = { ...next, config };
      return { changes: { settings: changed }, isChanged: changed.length > 0, needRestart };
    };
  });
}

/** What a reload has changed. */
interface Applied {
  /** Fields of the log. */
  readonly changes: Readonly<Record<string, unknown>>;
  readonly isChanged: boolean;
  readonly needRestart: readonly string[];
}

/** Follows the sources. `check` rejects for sources with problems, and else returns what applies them. */
function startReload(
  { place, sources: started }: Pick<Loaded<unknown>, "place" | "sources">,
  log: Log,
  unchanged: string,
  check: (sources: Sources) => Promise<() => Applied>,
): Watcher {
  let latest = started;
  let isRejected = false;
  let isClosed = false;

  async function reload(sources: Sources, isRequested: boolean): Promise<void> {
    if (!isRequested && areSameSources(sources, latest)) return;
    latest = sources;
    try {
      const apply = await check(sources);
      if (isClosed) return;
      report(apply(), isRequested || isRejected);
      isRejected = false;
    } catch (thrown) {
      if (isClosed) return;
      isRejected = true;
      const problems = thrown instanceof ConfigError ? { problems: thrown.problems } : describeFault(thrown);
      log.error(problems, "configuration rejected, previous one stays in force");
    }
  }

  function report({ changes, isChanged, needRestart }: Applied, isExpected: boolean): void {
    if (isChanged) log.info(changes, "configuration reloaded");
    else if (isExpected) log.info({}, unchanged);
    if (needRestart.length > 0) log.warn({ settings: needRestart }, "configuration changes need a restart");
  }

  const watcher = watch(followSources(place, started), reload);
  return {
    request: watcher.request,
    close() {
      isClosed = true;
      watcher.close();
    },
  };
}

function hasAny({ models, upstreams, settings }: Omit<ConfigChanges, "needRestart">): boolean {
  return settings.length + Object.keys(models).length + Object.keys(upstreams).length > 0;
}
