import { type ConfigChanges, compareConfigs, keepStartSettings } from "../config/changes.ts";
import { type LiveConfig, type LoadedConfig, rereadConfig } from "../config/config.ts";
import { ConfigError } from "../config/problems.ts";
import { isSameSource, type Source } from "../config/source.ts";
import { type SourceWatcher, watchSource } from "../config/watch.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

interface ReloadOptions {
  /** The configuration that the gateway was started with. */
  readonly loaded: LoadedConfig;
  readonly apply: (config: LiveConfig) => void;
  readonly log: Log;
}

/**
 * Reloads the configuration file of a running gateway when it has changed, and on request. A file with any
 * problem is rejected as a whole, and the previous configuration stays in force.
 */
export function startConfigReload({ loaded, apply, log }: ReloadOptions): SourceWatcher {
  let running = loaded;
  let latestSource = loaded.source;
  let isRejected = false;
  let isClosed = false;

  async function reload(source: Source, isRequested: boolean): Promise<void> {
    if (!isRequested && isSameSource(source, latestSource)) return;
    latestSource = source;
    try {
      await applySource(source, isRequested);
      isRejected = false;
    } catch (thrown) {
      if (isClosed) return;
      isRejected = true;
      const problems = thrown instanceof ConfigError ? { problems: thrown.problems } : describeFault(thrown);
      log.error(problems, "configuration rejected, previous one stays in force");
    }
  }

  async function applySource(source: Source, isRequested: boolean): Promise<void> {
    const next = await rereadConfig(running, source);
    if (isClosed) return;
    const { needRestart, ...changes } = compareConfigs(running.config, next.config);
    const config = keepStartSettings(running.config, next.config);
    apply(config);
    running = { ...next, config };
    if (hasAny(changes)) log.info(changes, "configuration reloaded");
    else if (isRequested || isRejected) log.info({}, "configuration unchanged");
    if (needRestart.length > 0) log.warn({ settings: needRestart }, "configuration changes need a restart");
  }

  const watcher = watchSource(loaded.place.path, reload);
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
