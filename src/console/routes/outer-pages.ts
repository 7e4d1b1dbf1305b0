import { createRoute } from "@tanstack/react-router";
import { lazyPart } from "../reachable.ts";
import { filters, rangeAnd } from "../search.ts";
import { entrance, operator, root } from "./parents.ts";

export const entrancePages = [
  createRoute({
    getParentRoute: () => entrance,
    path: "/sign-in",
    validateSearch: filters("next", "ended", "problem"),
    component: lazyPart(() => import("../pages/entrance/sign-in-page.tsx"), "SignInPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/sign-up",
    validateSearch: filters("next", "email"),
    component: lazyPart(() => import("../pages/entrance/sign-up-page.tsx"), "SignUpPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/forgot",
    component: lazyPart(() => import("../pages/entrance/password-pages.tsx"), "ForgotPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/reset",
    component: lazyPart(() => import("../pages/entrance/password-pages.tsx"), "ResetPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/accept",
    component: lazyPart(() => import("../pages/entrance/accept-page.tsx"), "AcceptPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/verify",
    component: lazyPart(() => import("../pages/entrance/sign-up-page.tsx"), "VerifyPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/change-password",
    validateSearch: filters("next"),
    component: lazyPart(() => import("../pages/entrance/password-pages.tsx"), "ChangePasswordPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/second-factor",
    validateSearch: filters("next"),
    component: lazyPart(() => import("../pages/entrance/second-factor-page.tsx"), "SecondFactorPage"),
  }),
  createRoute({
    getParentRoute: () => entrance,
    path: "/confirmed",
    validateSearch: filters("problem"),
    component: lazyPart(() => import("../pages/entrance/confirmed-page.tsx"), "ConfirmedPage"),
  }),
];
export const shared = createRoute({
  getParentRoute: () => root,
  path: "/shared/$token",
  component: lazyPart(() => import("../pages/shared/shared-page.tsx"), "SharedPage"),
});

export const operatorPages = [
  createRoute({
    getParentRoute: () => operator,
    path: "/accounts",
    validateSearch: filters("q", "page"),
    component: lazyPart(() => import("../pages/operator/accounts-page.tsx"), "OperatorAccountsPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/setup",
    component: lazyPart(() => import("../pages/operator/setup-page.tsx"), "SetupPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/people",
    validateSearch: filters("q", "page"),
    component: lazyPart(() => import("../pages/operator/people-page.tsx"), "OperatorPeoplePage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/usage",
    validateSearch: rangeAnd("by", "group", "model", "upstream", "outcome", "compare", "table"),
    component: lazyPart(() => import("../pages/usage/usage-page.tsx"), "OperatorUsagePage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/health",
    component: lazyPart(() => import("../pages/operator/health-page.tsx"), "OperatorHealthPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/audit",
    component: lazyPart(() => import("../pages/operator/audit-page.tsx"), "OperatorAuditPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/audit-trail",
    validateSearch: rangeAnd("actor", "by", "action", "page"),
    component: lazyPart(() => import("../pages/audit-trail/audit-trail-page.tsx"), "OperatorAuditTrailPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/codes",
    validateSearch: filters("q", "sort", "state", "page"),
    component: lazyPart(() => import("../pages/operator/codes-page.tsx"), "OperatorCodesPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/figures",
    validateSearch: filters("risk"),
    component: lazyPart(() => import("../pages/operator/figures-page.tsx"), "FiguresPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/subscriptions",
    validateSearch: filters("q", "sort", "state", "page"),
    component: lazyPart(() => import("../pages/operator/subscriptions-page.tsx"), "SubscriptionsPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/management-keys",
    component: lazyPart(
      () => import("../pages/management-keys/management-keys-page.tsx"),
      "OperatorManagementKeysPage",
    ),
  }),
];
