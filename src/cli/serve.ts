import { catchHangups } from "../app/signals.ts";
import { relaunchForUpstreamCalls } from "../config/relaunch.ts";

/** The parts of the gateway are loaded last: a SIGHUP that comes meanwhile must not end what is starting. */
export async function runServe(): Promise<void> {
  const hangups = catchHangups();
  relaunchForUpstreamCalls();
  const [{ loadWithSource }, { serve }] = await Promise.all([
    import("../config/config.ts"),
    import("../app/gateway-process.ts"),
  ]);
  await serve(loadWithSource(), hangups);
}
