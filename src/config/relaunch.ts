const VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** Maximum that Bun accepts. */
const CALLS_MAX = 65_535;
/** Bun's default. */
const CALLS_DEFAULT = 256;
/** A cap below this is reported: a busy gateway may reach so many concurrent calls. */
const CALLS_USUAL_MAX = 4_096;

/**
 * Replaces this process by one with BUN_CONFIG_MAX_HTTP_REQUESTS at its maximum, unless the variable is set.
 * Bun caps concurrent fetches at 256 and reads the variable before the first line of a program runs.
 */
export function relaunchForUpstreamCalls(): void {
  if (readCallsMax() !== undefined || !process.execve) return;
  // The first words of argv are the runtime and the script, which is inside of the program in an executable.
  const words = process.argv.slice(Bun.isStandaloneExecutable ? 2 : 1);
  const environment = { ...process.env, [VARIABLE]: String(CALLS_MAX) };
  process.execve(process.execPath, [process.execPath, ...process.execArgv, ...words], environment);
}

/** Returns the cap on concurrent upstream calls and its variable when the cap is below 4,096. */
export function findLowCallsCap(): { readonly calls: number; readonly variable: string } | undefined {
  const calls = readCallsMax() ?? CALLS_DEFAULT;
  return calls < CALLS_USUAL_MAX ? { calls, variable: VARIABLE } : undefined;
}

/** Returns `undefined` when the variable is not set or holds a value that Bun ignores. */
function readCallsMax(): number | undefined {
  const text = process.env[VARIABLE] ?? "";
  const calls = Number(text);
  return /^\d{1,5}$/.test(text) && calls >= 1 && calls <= CALLS_MAX ? calls : undefined;
}
