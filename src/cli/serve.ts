import { relaunchForUpstreamCalls } from "../config/relaunch.ts";
import { loadConfig } from "../config.ts";
import { serve } from "../main.ts";

export async function runServe(): Promise<void> {
  relaunchForUpstreamCalls();
  await serve(loadConfig());
}
