import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { filters, rangeAnd } from "../search.ts";
import { account } from "./parents.ts";

export const trafficPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/",
    validateSearch: rangeAnd(),
    component: lazyRouteComponent(() => import("../pages/overview/overview-page.tsx"), "OverviewPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/usage",
    validateSearch: rangeAnd(
      "by",
      "group",
      "key",
      "model",
      "upstream",
      "outcome",
      "compare",
      "table",
      "whatif",
    ),
    component: lazyRouteComponent(() => import("../pages/usage/usage-page.tsx"), "UsagePage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/requests",
    validateSearch: rangeAnd(
      "key",
      "model",
      "upstream",
      "outcome",
      "surface",
      "state",
      "metadata",
      "page",
      "live",
    ),
    component: lazyRouteComponent(() => import("../pages/requests/requests-page.tsx"), "RequestsPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/requests/$request",
    component: lazyRouteComponent(() => import("../pages/receipt/receipt-page.tsx"), "ReceiptPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/refusals",
    validateSearch: rangeAnd("key", "code", "page"),
    component: lazyRouteComponent(() => import("../pages/refusals/refusals-page.tsx"), "RefusalsPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/refusals/$request",
    component: lazyRouteComponent(() => import("../pages/refusal/refusal-page.tsx"), "RefusalPage"),
  }),
];
export const buildPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/keys",
    validateSearch: filters("state", "q", "create"),
    component: lazyRouteComponent(() => import("../pages/keys/keys-page.tsx"), "KeysPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/keys/$key",
    validateSearch: rangeAnd("tab"),
    component: lazyRouteComponent(() => import("../pages/key/key-page.tsx"), "KeyPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/models",
    validateSearch: rangeAnd("q", "model"),
    component: lazyRouteComponent(() => import("../pages/models/models-page.tsx"), "ModelsPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/playground",
    validateSearch: filters("key", "model", "other"),
    component: lazyRouteComponent(() => import("../pages/playground/playground-page.tsx"), "PlaygroundPage"),
  }),
];
export const moneyPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/wallet",
    validateSearch: rangeAnd("tab", "page", "checkout", "topup"),
    component: lazyRouteComponent(() => import("../pages/wallet/wallet-page.tsx"), "WalletPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/notices",
    validateSearch: filters("tab", "page"),
    component: lazyRouteComponent(() => import("../pages/notices/notices-page.tsx"), "NoticesPage"),
  }),
];
export const teamPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/team",
    component: lazyRouteComponent(() => import("../pages/team/team-page.tsx"), "TeamPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/links",
    component: lazyRouteComponent(() => import("../pages/links/links-page.tsx"), "LinksPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/management-keys",
    component: lazyRouteComponent(
      () => import("../pages/management-keys/management-keys-page.tsx"),
      "ManagementKeysPage",
    ),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/audit-trail",
    validateSearch: rangeAnd("actor", "action", "page"),
    component: lazyRouteComponent(
      () => import("../pages/audit-trail/audit-trail-page.tsx"),
      "AuditTrailPage",
    ),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/settings",
    component: lazyRouteComponent(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
  }),
];
