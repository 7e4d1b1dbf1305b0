import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";

export const HEALTH_KEY = ["operator", "health"];
const REFRESH_MS = 5_000;

export type Health = Awaited<ReturnType<typeof fetchHealth>>;
export type UpstreamHealth = Health["upstreams"][number];

const fetchHealth = () => call(() => api.operator.health.get());

/** The state of the gateway, asked for every 5 s while it is looked at. */
export const healthQuery = queryOptions({
  queryKey: HEALTH_KEY,
  queryFn: fetchHealth,
  refetchInterval: REFRESH_MS,
});
