import { type ConfigChanges, compareConfigs, takeOver } from "../config/changes.ts";
import { type LiveConfig, type LoadedConfig, rereadConfig } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { isSameSource, type Source } from "../config/source.ts";
import { type SourceWatcher, watchSource } from "../config/watch.ts";
import { describeFault, type Log } from "../telemetry/log.ts";

interface ReloadOptions {
  /** What the gateway was started with. */
  readonly loaded: LoadedConfig;
  readonly apply: (config: LiveConfig) => void;
  readonly log: Log;
}

/**
 * Keeps a running gateway as its configuration file says: reads it anew when asked, and when it has
 * changed. A file with any problem is refused whole, and the configuration before it goes on.
 */
export function startConfigReload({ loaded, apply, log }: ReloadOptions): SourceWatcher {
  let running = loaded;
  let judged = loaded.source;
  let isRefused = false;
  let isClosed = false;

  async function judge(source: Source, asked: boolean): Promise<void> {
    if (!asked && isSameSource(source, judged)) return;
    judged = source;
    try {
      await takeFrom(source, asked);
      isRefused = false;
    } catch (thrown) {
      if (isClosed) return;
      isRefused = true;
      const problems = thrown instanceof ConfigError ? { problems: thrown.problems } : describeFault(thrown);
      log.error(problems, "configuration refused, the one before goes on");
    }
  }

  async function takeFrom(source: Source, asked: boolean): Promise<void> {
    const next = await rereadConfig(running, source);
    if (isClosed) return;
    const { waiting, ...changes } = compareConfigs(running.config, next.config);
    const config = takeOver(running.config, next.config);
    apply(config);
    running = { ...next, config };
    if (hasAny(changes)) log.info(changes, "configuration taken over");
    else if (asked || isRefused) log.info({}, "configuration read anew, nothing has changed");
    if (waiting.length > 0) log.warn({ settings: waiting }, "settings that wait for the next start");
  }

  const follower = watchSource(loaded.place.path, judge);
  return {
    request: follower.request,
    close() {
      isClosed = true;
      follower.close();
    },
  };
}

function hasAny({ models, upstreams, settings }: Omit<ConfigChanges, "waiting">): boolean {
  return settings.length + Object.keys(models).length + Object.keys(upstreams).length > 0;
}
