const VARIABLE = "BUN_CONFIG_MAX_HTTP_REQUESTS";
/** The most that Bun allows. */
const CALLS_MAX = "65535";

/**
 * Bun caps concurrent fetches at 256 and reads the variable that raises the cap before our first line
 * runs. So, unless whoever started us has set it, this process replaces itself by one that has it.
 */
export function relaunchForUpstreamCalls(): void {
  if (process.env[VARIABLE] || !process.execve) return;
  const environment = { ...process.env, [VARIABLE]: CALLS_MAX };
  process.execve(
    process.execPath,
    [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    environment,
  );
}
