import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type AccountNeed, PERMISSIONS } from "../http/console/permissions.ts";
import { api, call } from "./api.ts";

/** The signed-in person with their accounts. */
export type Me = Awaited<ReturnType<typeof fetchMe>>;

const fetchMe = () => call(() => api.me.get());

export const meQuery = queryOptions({ queryKey: ["me"], queryFn: fetchMe, staleTime: 60_000 });
/** The facts about the server that are public before the sign-in. */
export const setupQuery = queryOptions({
  queryKey: ["setup"],
  queryFn: () => call(() => api.setup.get()),
  staleTime: Number.POSITIVE_INFINITY,
});

export function useMe(): Me {
  return useSuspenseQuery(meQuery).data;
}

/** Like {@link useMe} for pages that signed-out visitors see too. */
export function useMeIfSignedIn(): Me | undefined {
  return useQuery({ ...meQuery, retry: false, meta: { isOptional: true } }).data;
}

interface PageAccount {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly state: "active" | "suspended";
}

/** The account of the page's path, and the caller's role in it. */
export function useAccount(): PageAccount {
  const { account: id = "" } = useParams({ strict: false });
  const { accounts, acting } = useMe();
  const member = accounts.find((each) => each.id === id);
  if (member) return member;
  if (acting?.account_id !== id) return { id, name: id, role: "acting", state: "active" };
  return { id, name: acting.account_name, role: "acting", state: acting.account_state };
}

/** Whether the caller is a member of the page's account, or acts inside it. */
export function useIsInAccount(): boolean {
  const { account } = useParams({ strict: false });
  const { accounts, acting } = useMe();
  return acting?.account_id === account || accounts.some(({ id }) => id === account);
}

/** Whether the caller may do this in the page's account. The server decides again. */
export function useMay(need: AccountNeed): boolean {
  const { role } = useAccount();
  const roles: readonly string[] = PERMISSIONS[need].roles;
  return roles.includes(role);
}
