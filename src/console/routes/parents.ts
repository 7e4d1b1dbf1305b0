import type { QueryClient } from "@tanstack/react-query";
import {
  type AnyRoute,
  createRootRouteWithContext,
  createRoute,
  Outlet,
  type ResolveFullPath,
  type ResolveId,
  redirect,
} from "@tanstack/react-router";
import { ApiError } from "../api.ts";
import { lazyPart } from "../reachable.ts";
import { filters } from "../search.ts";
import { accountNowQuery, type Me, meQuery, operatorNowQuery } from "../session.ts";
import { Entrance } from "../shell/entrance.tsx";
import { AccountFrame, Shell } from "../shell/shell.tsx";
import { recallView } from "../views.ts";

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
  // Of every list: its search and its order.
  validateSearch: filters("q", "sort"),
  beforeLoad: async ({ context, location, preload }) => {
    const me = await readMe(context.queryClient, location.href);
    if (me.must_change_password) {
      throw redirect({ to: "/change-password", search: { next: location.href } });
    }
    if (me.must_set_up_second_factor) {
      throw redirect({ to: "/second-factor", search: { next: location.href } });
    }
    const view = preload ? undefined : recallView(location);
    if (view) throw redirect({ to: location.pathname, search: view, replace: true } as never);
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
  // The strips above the page are known before it is drawn, so that it does not move when they come.
  loader: ({ context, params }) =>
    atMost(STRIPS_MS_MAX, context.queryClient.ensureQueryData(accountNowQuery(params.account))),
  component: AccountFrame,
});

/** Pages of platform operators. */
export const operator = createRoute({
  getParentRoute: () => shell,
  path: "/operator",
  beforeLoad: ({ context: { me } }) => {
    if (!me.person.is_operator) throw redirect({ to: "/", replace: true });
  },
  loader: ({ context }) => atMost(STRIPS_MS_MAX, context.queryClient.ensureQueryData(operatorNowQuery)),
});

/** A page waits no longer for what may stand above it. */
const STRIPS_MS_MAX = 300;

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, ms))]);
}

/** Throws a redirect to the sign-in without a session. */
async function readMe(queryClient: QueryClient, href: string): Promise<Me> {
  try {
    return await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw redirect({ to: "/sign-in", search: href === "/" ? {} : { next: href } });
  }
}

/** Returns what adds a page below a route: its path, its module, its name there, and the reader of its search. */
export function pagesBelow<Parent extends AnyRoute>(parent: Parent) {
  return <
    const Path extends string,
    Module extends Record<string, unknown>,
    Name extends keyof Module,
    Search = undefined,
  >(
    path: Path,
    load: () => Promise<Module>,
    name: Name,
    validateSearch?: Search,
  ) => {
    const component = lazyPart<Module, Name>(load, name);
    const options = { getParentRoute: () => parent, path, component, validateSearch };
    // Safe because the types below are those of the options.
    return createRoute<
      unknown,
      Parent,
      Path,
      ResolveFullPath<Parent, Path>,
      string,
      ResolveId<Parent, string, Path>,
      Search
    >(options as never);
  };
}
