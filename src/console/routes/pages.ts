import { createRoute } from "@tanstack/react-router";
import { lazyPart } from "../reachable.ts";
import { filters, rangeAnd } from "../search.ts";
import { account, shell } from "./parents.ts";

export const trafficPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/",
    validateSearch: rangeAnd(),
    component: lazyPart(() => import("../pages/overview/overview-page.tsx"), "OverviewPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/usage",
    validateSearch: rangeAnd(
      "by",
      "group",
      "tag",
      "scope",
      "key",
      "model",
      "upstream",
      "outcome",
      "compare",
      "table",
      "whatif",
    ),
    component: lazyPart(() => import("../pages/usage/usage-page.tsx"), "UsagePage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/requests",
    validateSearch: rangeAnd(
      "scope",
      "key",
      "model",
      "upstream",
      "outcome",
      "surface",
      "state",
      "metadata",
      "page",
      "sort",
      "live",
    ),
    component: lazyPart(() => import("../pages/requests/requests-page.tsx"), "RequestsPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/requests/$request",
    component: lazyPart(() => import("../pages/requests/receipt-page.tsx"), "ReceiptPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/compare",
    validateSearch: filters("left", "right"),
    component: lazyPart(() => import("../pages/requests/compare-page.tsx"), "ComparePage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/refusals",
    validateSearch: rangeAnd("key", "code", "page"),
    component: lazyPart(() => import("../pages/requests/refusals-page.tsx"), "RefusalsPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/refusals/$request",
    component: lazyPart(() => import("../pages/requests/refusal-page.tsx"), "RefusalPage"),
  }),
];
export const buildPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/keys",
    validateSearch: filters("state", "q", "page", "create", "project"),
    component: lazyPart(() => import("../pages/keys/keys-page.tsx"), "KeysPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/keys/$key",
    validateSearch: rangeAnd("tab"),
    component: lazyPart(() => import("../pages/keys/key-page.tsx"), "KeyPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/projects",
    validateSearch: filters("state", "create"),
    component: lazyPart(() => import("../pages/projects/projects-page.tsx"), "ProjectsPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/projects/$project",
    validateSearch: filters("by"),
    component: lazyPart(() => import("../pages/projects/project-page.tsx"), "ProjectPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/models",
    validateSearch: rangeAnd("q", "can", "sort", "model"),
    component: lazyPart(() => import("../pages/models/models-page.tsx"), "ModelsPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/models/$model",
    component: lazyPart(() => import("../pages/models/model-page.tsx"), "ModelPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/playground",
    validateSearch: filters("key", "model", "other", "from"),
    component: lazyPart(() => import("../pages/playground/playground-page.tsx"), "PlaygroundPage"),
  }),
];
export const moneyPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/wallet",
    validateSearch: rangeAnd("q", "sort", "tab", "page", "kind", "credits", "checkout", "topup", "plan"),
    component: lazyPart(() => import("../pages/wallet/wallet-page.tsx"), "WalletPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/statements/$month",
    validateSearch: filters("with"),
    component: lazyPart(() => import("../pages/wallet/statement-page.tsx"), "StatementPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/notices",
    validateSearch: filters("q", "tab", "state", "page"),
    component: lazyPart(() => import("../pages/notices/notices-page.tsx"), "NoticesPage"),
  }),
];
export const teamPages = [
  createRoute({
    getParentRoute: () => account,
    path: "/team",
    validateSearch: filters("invite"),
    component: lazyPart(() => import("../pages/team/team-page.tsx"), "TeamPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/links",
    component: lazyPart(() => import("../pages/links/links-page.tsx"), "LinksPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/management-keys",
    component: lazyPart(
      () => import("../pages/management-keys/management-keys-page.tsx"),
      "ManagementKeysPage",
    ),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/audit-trail",
    validateSearch: rangeAnd("actor", "by", "action", "page"),
    component: lazyPart(() => import("../pages/audit-trail/audit-trail-page.tsx"), "AuditTrailPage"),
  }),
  createRoute({
    getParentRoute: () => account,
    path: "/settings",
    component: lazyPart(() => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
  }),
];

export const ownPages = [
  createRoute({
    getParentRoute: () => shell,
    path: "/profile",
    validateSearch: filters("problem"),
    component: lazyPart(() => import("../pages/profile/profile-page.tsx"), "ProfilePage"),
  }),
  createRoute({
    getParentRoute: () => shell,
    path: "/api/docs",
    validateSearch: filters("route"),
    component: lazyPart(() => import("../pages/api-docs/api-docs-page.tsx"), "ApiDocsPage"),
  }),
];
