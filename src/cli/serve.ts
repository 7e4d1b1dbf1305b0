import { relaunchForUpstreamCalls } from "../config/relaunch.ts";
import { catchHangups } from "../hangup.ts";

/** The parts of the gateway are loaded last: a SIGHUP that comes meanwhile must not end what is starting. */
export async function runServe(): Promise<void> {
  const hangups = catchHangups();
  relaunchForUpstreamCalls();
  const [{ loadWithSource }, { serve }] = await Promise.all([
    import("../config.ts"),
    import("../gateway-process.ts"),
  ]);
  await serve(loadWithSource(), hangups);
}
