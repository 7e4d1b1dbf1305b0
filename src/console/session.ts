import { queryOptions, useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { type AccountNeed, PERMISSIONS } from "../http/console/permissions.ts";
import { api, call } from "./api.ts";
import type { DataOf } from "./query.ts";

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

const NOW_MS = 30_000;

/** What every page shows of an account: why its requests are refused, and its unread notices. */
export const accountNowQuery = (account: string) =>
  queryOptions({
    // Of the wallet, so that whatever changes the wallet renews it.
    queryKey: ["account", account, "wallet", "now"],
    queryFn: () => call(() => api.accounts({ account }).get()),
    refetchInterval: NOW_MS,
    retry: false,
  });

/** What concerns an operator on every page. */
export const operatorNowQuery = queryOptions({
  queryKey: ["operator", "now"],
  queryFn: () => call(() => api.operator.now.get()),
  refetchInterval: NOW_MS,
  retry: false,
});

export type AccountNow = DataOf<typeof accountNowQuery>;

/** Like {@link useMe} for pages that signed-out visitors see too. */
export function useMeIfSignedIn(): Me | undefined {
  return useQuery({ ...meQuery, retry: false, meta: { isOptional: true } }).data;
}

/** An account that the person can enter. */
export interface EnterableAccount {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

/** The account of the page's path, and the caller's role in it. */
export function useAccount(): EnterableAccount {
  const { account: id = "" } = useParams({ strict: false });
  const { accounts, acting } = useMe();
  const member = accounts.find((each) => each.id === id);
  if (member) return member;
  if (acting?.account_id !== id) return { id, name: id, role: "acting" };
  return { id, name: acting.account_name, role: "acting" };
}

/** Whether the caller is a member of the page's account, or acts inside it. */
export function useIsInAccount(): boolean {
  const { account } = useParams({ strict: false });
  const { accounts, acting } = useMe();
  return acting?.account_id === account || accounts.some(({ id }) => id === account);
}

/** Whether the caller may do this in the page's account. The server decides again. */
export function useMay(need: AccountNeed): boolean {
  return mayAs(useAccount().role, need);
}

/** Whether the person may make an account of their own. The server decides again. */
export function useMayCreateAccount(): boolean {
  const { data: setup } = useQuery(setupQuery);
  return useMe().person.is_operator || setup?.sign_up === "open";
}

/** Whether a role has a right. */
export function mayAs(role: string, need: AccountNeed): boolean {
  const roles: readonly string[] = PERMISSIONS[need].roles;
  return roles.includes(role);
}
