import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { ItemOf } from "../query.ts";

/** A route with the 24 hours of its last day. */
export type RouteHours = ItemOf<typeof routeHoursQuery>;
export type RouteHour = RouteHours["hours"][number];

/** The gateways write what they count every 10 s. */
const EVERY_MS = 30_000;

/** The hours of the routes of a model; without one, of every route in use. For operators. */
export const routeHoursQuery = (model?: string) =>
  queryOptions({
    queryKey: ["operator", "route-hours", model],
    queryFn: () =>
      call(() => api.operator["route-hours"].get({ query: model === undefined ? {} : { model } })),
    refetchInterval: EVERY_MS,
  });
