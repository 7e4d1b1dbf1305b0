import { createRoute, redirect } from "@tanstack/react-router";
import { lazyPart } from "../reachable.ts";
import { filters } from "../search.ts";
import { shell } from "./parents.ts";

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

export const ownPages = [
  createRoute({
    getParentRoute: () => shell,
    path: "/profile",
    component: lazyPart(() => import("../pages/profile/profile-page.tsx"), "ProfilePage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/api/docs",
    validateSearch: filters("route"),
    component: lazyPart(() => import("../pages/api-docs/api-docs-page.tsx"), "ApiDocsPage"),
  }),
];
