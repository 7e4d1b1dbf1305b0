import { createRoute } from "@tanstack/react-router";
import { lazyPart } from "../reachable.ts";
import { filters, rangeAnd } from "../search.ts";
import { operator } from "./parents.ts";

export const operatorPages = [
  createRoute({
    getParentRoute: () => operator,
    path: "/accounts",
    validateSearch: filters("q", "page"),
    component: lazyPart(
      () => import("../pages/operator-accounts/operator-accounts-page.tsx"),
      "OperatorAccountsPage",
    ),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/people",
    validateSearch: filters("q", "page"),
    component: lazyPart(
      () => import("../pages/operator-people/operator-people-page.tsx"),
      "OperatorPeoplePage",
    ),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/usage",
    validateSearch: rangeAnd("by", "group", "model", "upstream", "outcome", "compare", "table"),
    component: lazyPart(() => import("../pages/operator-usage/operator-usage-page.tsx"), "OperatorUsagePage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/health",
    component: lazyPart(
      () => import("../pages/operator-health/operator-health-page.tsx"),
      "OperatorHealthPage",
    ),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/audit",
    component: lazyPart(() => import("../pages/operator-audit/operator-audit-page.tsx"), "OperatorAuditPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/audit-trail",
    validateSearch: rangeAnd("actor", "action", "page"),
    component: lazyPart(
      () => import("../pages/operator-audit-trail/operator-audit-trail-page.tsx"),
      "OperatorAuditTrailPage",
    ),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/codes",
    validateSearch: filters("page"),
    component: lazyPart(() => import("../pages/operator-codes/operator-codes-page.tsx"), "OperatorCodesPage"),
  }),
  createRoute({
    getParentRoute: () => operator,
    path: "/management-keys",
    component: lazyPart(
      () => import("../pages/operator-management-keys/operator-management-keys-page.tsx"),
      "OperatorManagementKeysPage",
    ),
  }),
];
