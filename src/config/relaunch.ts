const VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** The most that Bun allows. */
const CALLS_MAX = 65_535;
/** What Bun allows unless it is told otherwise. */
const CALLS_DEFAULT = 256;
/** A gateway may well come to so many calls at once. */
const CALLS_USUAL_MAX = 4_096;

/**
 * Bun caps concurrent fetches at 256 and reads the variable that raises the cap before our first line
 * runs. So, unless whoever started us has set it, this process replaces itself by one that has it.
 */
export function relaunchForUpstreamCalls(): void {
  if (readCallsMax() !== undefined || !process.execve) return;
  const environment = { ...process.env, [VARIABLE]: String(CALLS_MAX) };
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    environment,
  );
}

/** The cap on concurrent upstream calls and the variable that raises it, where the cap may be met. */
export function findLowCallsCap(): { readonly calls: number; readonly variable: string } | undefined {
  const calls = readCallsMax() ?? CALLS_DEFAULT;
  return calls < CALLS_USUAL_MAX ? { calls, variable: VARIABLE } : undefined;
}

/** `undefined` when it is not set, or to what Bun does not take. */
function readCallsMax(): number | undefined {
  const text = process.env[VARIABLE] ?? "";
  const calls = Number(text);
  return /^\d{1,5}$/.test(text) && calls >= 1 && calls <= CALLS_MAX ? calls : undefined;
}
