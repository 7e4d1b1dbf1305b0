import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";
import { orderIn } from "../search.ts";
import type { TrailQuery } from "./account.ts";

/** A list of operators, as the URL holds it. */
export interface ListSearch {
  readonly q?: string;
  readonly page?: string;
  /** "name", "-spent" */
  readonly sort?: string;
  readonly state?: string;
}

export type ListedAccount = ItemOf<typeof accountsQuery>;
export type Person = ItemOf<typeof peopleQuery>;
export type Code = ItemOf<typeof codesQuery>;
export type Health = DataOf<typeof healthQuery>;
export type UpstreamHealth = Health["upstreams"][number];
export type Audit = DataOf<typeof auditQuery>;

export const ACCOUNTS_KEY = ["operator", "accounts"];
export const PEOPLE_KEY = ["operator", "people"];
export const CODES_KEY = ["operator", "codes"];
export const HEALTH_KEY = ["operator", "health"];
export const AUDIT_KEY = ["operator", "audit"];

const HEALTH_EVERY_MS = 5_000;
const AUDIT_EVERY_MS = 2_000;

const ACCOUNT_ORDERS = ["name", "available", "spent", "requests"];
export const accountsQuery = ({ q, page, sort }: ListSearch) => {
  const query = { ...(q && { q }), ...(page && { page }), ...orderIn(sort, ACCOUNT_ORDERS) };
  return queryOptions({
    queryKey: [...ACCOUNTS_KEY, query],
    queryFn: () => call(() => api.operator.accounts.get({ query })),
    placeholderData: keepPreviousData,
  });
};

export const peopleQuery = ({ sort, ...search }: ListSearch) => {
  const query = { ...search, ...orderIn(sort, ["name"]) };
  return queryOptions({
    queryKey: [...PEOPLE_KEY, query],
    queryFn: () => call(() => api.operator.people.get({ query })),
    placeholderData: keepPreviousData,
  });
};

/** How a person may sign in. */
export const personWaysQuery = (person: string) =>
  queryOptions({
    queryKey: [...PEOPLE_KEY, person, "ways"],
    queryFn: () => call(() => api.operator.people({ person })["sign-in-ways"].get()),
  });

export const CODE_STATES = ["open", "redeemed", "expired", "revoked"] as const;

export const codesQuery = ({ state: named, sort, ...search }: ListSearch) => {
  const state = CODE_STATES.find((each) => each === named);
  const order = orderIn(sort, ["amount", "created", "expires", "redeemed"]);
  const query = { ...search, ...(state && { state }), ...order };
  return queryOptions({
    queryKey: [...CODES_KEY, query],
    queryFn: () => call(() => api.operator.codes.get({ query })),
    placeholderData: keepPreviousData,
  });
};

/** The state of the gateway, asked for every 5 s while it is looked at. */
export const healthQuery = () =>
  queryOptions({
    queryKey: HEALTH_KEY,
    queryFn: () => call(() => api.operator.health.get()),
    refetchInterval: HEALTH_EVERY_MS,
  });

/** The last run of the audit, asked for every 2 s while one is under way. */
export const auditQuery = () =>
  queryOptions({
    queryKey: AUDIT_KEY,
    queryFn: () => call(() => api.operator.audit.get()),
    refetchInterval: ({ state }) => (state.data?.is_running ? AUDIT_EVERY_MS : false),
  });

export const platformKeysQuery = () =>
  queryOptions({
    queryKey: ["operator", "management-keys"],
    queryFn: () => call(() => api.operator["management-keys"].get()),
  });

export const platformTrailQuery = (query: TrailQuery) =>
  queryOptions({
    queryKey: ["operator", "audit-trail", query],
    queryFn: () => call(() => api.operator["audit-trail"].get({ query })),
    placeholderData: keepPreviousData,
  });
