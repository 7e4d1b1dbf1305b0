import { queryOptions } from "@tanstack/react-query";
import { api, call } from "../api.ts";

export type Member = Awaited<ReturnType<typeof fetchMembers>>["items"][number];
export type Invitation = Awaited<ReturnType<typeof fetchInvitations>>["items"][number];

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

const fetchMembers = (account: string) => call(() => api.accounts({ account }).members.get());
const fetchInvitations = (account: string) => call(() => api.accounts({ account }).invitations.get());

export const membersQuery = (account: string) =>
  queryOptions({ queryKey: ["account", account, "members"], queryFn: () => fetchMembers(account) });

export const invitationsQuery = (account: string) =>
  queryOptions({ queryKey: ["account", account, "invitations"], queryFn: () => fetchInvitations(account) });
