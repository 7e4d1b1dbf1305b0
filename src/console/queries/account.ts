import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { DataOf, ItemOf } from "../query.ts";

export type Account = Omit<
  DataOf<typeof accountQuery>,
  "next_refusal" | "unread_notices" | "recently_refused" | "wallet"
>;
export type SharedLink = ItemOf<typeof linksQuery>;

export const accountQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "settings"],
    queryFn: () => call(() => api.accounts({ account }).get()),
  });

/** How receipts name end users, and the keys that tags may have. */
export const attributionQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "attribution"],
    queryFn: () => call(() => api.accounts({ account }).attribution.get()),
  });

/** Whom the statements of an account are for. */
export const billingDetailsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "billing-details"],
    queryFn: () => call(() => api.accounts({ account })["billing-details"].get()),
  });

export const linksQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "links"],
    queryFn: () => call(() => api.accounts({ account }).links.get()),
  });

export const managementKeysQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "management-keys"],
    queryFn: () => call(() => api.accounts({ account })["management-keys"].get()),
  });

/** Every kind of author, in the words of the console. */
export const AUTHOR_KINDS = {
  person: "person",
  management_key: "management key",
  api_key: "API key",
  payment_caller: "payment caller",
  command_line: "command line",
  system: "system",
} as const;
export type AuthorKind = keyof typeof AUTHOR_KINDS;

export function isAuthorKind(text: string | undefined): text is AuthorKind {
  return text !== undefined && Object.hasOwn(AUTHOR_KINDS, text);
}

/** The filters of an audit trail, as the API takes them. */
export interface TrailQuery {
  readonly actor?: string;
  readonly actor_kind?: AuthorKind;
  readonly action?: string;
  readonly page?: string;
  readonly from?: string;
  readonly to?: string;
}

export const auditTrailQuery = (account: string, query: TrailQuery) =>
  queryOptions({
    queryKey: ["account", account, "audit-trail", query],
    queryFn: () => call(() => api.accounts({ account })["audit-trail"].get({ query })),
    placeholderData: keepPreviousData,
  });

export type Member = ItemOf<typeof membersQuery>;
export type Invitation = ItemOf<typeof invitationsQuery>;

export const ROLES = [
  { value: "developer", text: "Developer: own keys, playground" },
  { value: "viewer", text: "Viewer: usage, requests, wallet" },
  { value: "owner", text: "Owner: all, with money and members" },
] as const;

const UP: readonly string[] = ["viewer", "developer", "owner"];

/** The roles without more rights than this one. */
export function rolesUpTo(role: string) {
  return ROLES.filter(({ value }) => UP.indexOf(value) <= UP.indexOf(role));
}

/** Reads the role of a form. */
export function readRole(text: string | undefined): Member["role"] {
  return ROLES.find(({ value }) => value === text)?.value ?? "viewer";
}

export const membersQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "members"],
    queryFn: () => call(() => api.accounts({ account }).members.get()),
  });

export const invitationsQuery = (account: string) =>
  queryOptions({
    queryKey: ["account", account, "invitations"],
    queryFn: () => call(() => api.accounts({ account }).invitations.get()),
  });
