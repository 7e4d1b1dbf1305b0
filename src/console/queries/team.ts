import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";
import type { ItemOf } from "../query.ts";

export type Member = ItemOf<typeof membersQuery>;
export type Invitation = ItemOf<typeof invitationsQuery>;

export const ROLES = [
  { value: "developer", text: "Developer: keys of their own, playground" },
  { value: "viewer", text: "Viewer: reads usage, requests and wallet" },
  { value: "owner", text: "Owner: everything, with money and members" },
] as const;

const UP: readonly string[] = ["viewer", "developer", "owner"];

/** The roles without more rights than this one. */
export function rolesUpTo(role: string) {
  return ROLES.filter(({ value }) => UP.indexOf(value) <= UP.indexOf(role));
}

/** The title of a role: "Owner". */
export function titleOf(role: string): string {
  return role.charAt(0).toUpperCase() + role.slice(1);
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
