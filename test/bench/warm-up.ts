/** Windows of load agree when their CPU time per answer differs by at most this share. */
const DIFFERENCE_MAX = 0.05;
/** On a machine with other load, windows may never agree. */
const WINDOWS_MAX = 15;

/**
 * Loads a server in windows of equal length until two in a row agree, because its code is compiled while it runs.
 * Returns the last window. Ends at a window whose CPU time is NaN.
 */
export async function warmUp<Window extends { readonly cpuUs: number }>(
  runWindow: () => Promise<Window>,
): Promise<Window> {
  let window = await runWindow();
  for (let count = 1; count < WINDOWS_MAX; count += 1) {
    const before = window;
    window = await runWindow();
    if (!(Math.abs(window.cpuUs / before.cpuUs - 1) > DIFFERENCE_MAX)) break;
  }
  return window;
}
