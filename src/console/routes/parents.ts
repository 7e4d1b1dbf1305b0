import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, Outlet, redirect } from "@tanstack/react-router";
import { ApiError } from "../api.ts";
import { type Me, meQuery } from "../session.ts";
import { Entrance } from "../shell/entrance.tsx";
import { AccountFrame, Shell } from "../shell/shell.tsx";

/** What every route can reach before its page is drawn. */
interface Context {
  readonly queryClient: QueryClient;
}

export const root = createRootRouteWithContext<Context>()({ component: Outlet });

/** Pages on a card, for people who are not signed in yet. */
export const entrance = createRoute({ getParentRoute: () => root, id: "entrance", component: Entrance });

/** Pages of signed-in people. Leads to the sign-in and back. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ context, location }) => {
    const me = await readMe(context.queryClient, location.href);
    if (me.must_change_password) {
      throw redirect({ to: "/change-password", search: { next: location.href } });
    }
    return { me };
  },
  component: Shell,
});

/** Leads to the account that the person acts in or belongs to. */
export const home = createRoute({
  getParentRoute: () => shell,
  path: "/",
  beforeLoad: ({ context: { me } }) => {
    const first = me.acting?.account_id ?? me.accounts[0]?.id;
    if (first) throw redirect({ to: "/accounts/$account", params: { account: first }, replace: true });
    throw redirect({ to: me.person.is_operator ? "/operator/accounts" : "/profile", replace: true });
  },
});

/** Pages of one account. */
export const account = createRoute({
  getParentRoute: () => shell,
  path: "/accounts/$account",
  component: AccountFrame,
});

/** Pages of platform operators. */
export const operator = createRoute({
  getParentRoute: () => shell,
  path: "/operator",
  beforeLoad: ({ context: { me } }) => {
    if (!me.person.is_operator) throw redirect({ to: "/", replace: true });
  },
});

/** Throws a redirect to the sign-in without a session. */
async function readMe(queryClient: QueryClient, href: string): Promise<Me> {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw redirect({ to: "/sign-in", search: href === "/" ? {} : { next: href } });
  }
}
