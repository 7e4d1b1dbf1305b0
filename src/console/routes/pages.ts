import { FILTERS as REQUEST_FILTERS } from "../queries/requests.ts";
import { filters, rangeAnd } from "../search.ts";
import { FILTERS as USAGE_FILTERS } from "../usage-view.ts";
import { account, entrance, operator, pagesBelow, root, shell } from "./parents.ts";

const accountPage = pagesBelow(account);

export const trafficPages = [
  accountPage("/", () => import("../pages/overview/overview-page.tsx"), "OverviewPage", rangeAnd()),
  accountPage(
    "/usage",
    () => import("../pages/usage/usage-page.tsx"),
    "UsagePage",
    rangeAnd(...USAGE_FILTERS, "by", "group", "tag", "compare", "table", "whatif"),
  ),
  accountPage(
    "/requests",
    () => import("../pages/requests/requests-page.tsx"),
    "RequestsPage",
    rangeAnd(...REQUEST_FILTERS, "page", "sort", "live"),
  ),
  accountPage("/requests/$request", () => import("../pages/requests/receipt-page.tsx"), "ReceiptPage"),
  accountPage(
    "/compare",
    () => import("../pages/requests/compare-page.tsx"),
    "ComparePage",
    filters("left", "right"),
  ),
  accountPage(
    "/refusals",
    () => import("../pages/requests/refusals-page.tsx"),
    "RefusalsPage",
    rangeAnd("key", "code", "page"),
  ),
  accountPage("/refusals/$request", () => import("../pages/requests/refusal-page.tsx"), "RefusalPage"),
];
export const buildPages = [
  accountPage(
    "/keys",
    () => import("../pages/keys/keys-page.tsx"),
    "KeysPage",
    filters("state", "q", "page", "create", "project"),
  ),
  accountPage("/keys/$key", () => import("../pages/keys/key-page.tsx"), "KeyPage", rangeAnd("tab")),
  accountPage(
    "/projects",
    () => import("../pages/projects/projects-page.tsx"),
    "ProjectsPage",
    filters("state", "create"),
  ),
  accountPage(
    "/projects/$project",
    () => import("../pages/projects/project-page.tsx"),
    "ProjectPage",
    filters("by"),
  ),
  accountPage(
    "/models",
    () => import("../pages/models/models-page.tsx"),
    "ModelsPage",
    rangeAnd("q", "can", "sort", "model"),
  ),
  accountPage("/models/$model", () => import("../pages/models/model-page.tsx"), "ModelPage"),
  accountPage(
    "/playground",
    () => import("../pages/playground/playground-page.tsx"),
    "PlaygroundPage",
    filters("key", "model", "other", "from"),
  ),
];
export const moneyPages = [
  accountPage(
    "/wallet",
    () => import("../pages/wallet/wallet-page.tsx"),
    "WalletPage",
    rangeAnd("q", "sort", "tab", "page", "kind", "credits", "checkout", "topup", "plan"),
  ),
  accountPage(
    "/statements/$month",
    () => import("../pages/wallet/statement-page.tsx"),
    "StatementPage",
    filters("with"),
  ),
  accountPage(
    "/notices",
    () => import("../pages/notices/notices-page.tsx"),
    "NoticesPage",
    filters("q", "tab", "state", "page"),
  ),
];
export const teamPages = [
  accountPage("/team", () => import("../pages/team/team-page.tsx"), "TeamPage", filters("invite")),
  accountPage("/links", () => import("../pages/links/links-page.tsx"), "LinksPage"),
  accountPage(
    "/management-keys",
    () => import("../pages/management-keys/management-keys-page.tsx"),
    "ManagementKeysPage",
  ),
  accountPage(
    "/audit-trail",
    () => import("../pages/audit-trail/audit-trail-page.tsx"),
    "AuditTrailPage",
    rangeAnd("actor", "by", "action", "page"),
  ),
  accountPage("/settings", () => import("../pages/settings/settings-page.tsx"), "SettingsPage"),
];

const ownPage = pagesBelow(shell);

export const ownPages = [
  ownPage("/profile", () => import("../pages/profile/profile-page.tsx"), "ProfilePage", filters("problem")),
  ownPage("/api/docs", () => import("../pages/api-docs/api-docs-page.tsx"), "ApiDocsPage", filters("route")),
];

const entrancePage = pagesBelow(entrance);

export const entrancePages = [
  entrancePage(
    "/sign-in",
    () => import("../pages/entrance/sign-in-page.tsx"),
    "SignInPage",
    filters("next", "ended", "problem"),
  ),
  entrancePage(
    "/sign-up",
    () => import("../pages/entrance/sign-up-page.tsx"),
    "SignUpPage",
    filters("next", "email"),
  ),
  entrancePage("/forgot", () => import("../pages/entrance/password-pages.tsx"), "ForgotPage"),
  entrancePage("/reset", () => import("../pages/entrance/password-pages.tsx"), "ResetPage"),
  entrancePage("/accept", () => import("../pages/entrance/accept-page.tsx"), "AcceptPage"),
  entrancePage("/verify", () => import("../pages/entrance/sign-up-page.tsx"), "VerifyPage"),
  entrancePage(
    "/change-password",
    () => import("../pages/entrance/password-pages.tsx"),
    "ChangePasswordPage",
    filters("next"),
  ),
  entrancePage(
    "/second-factor",
    () => import("../pages/entrance/second-factor-page.tsx"),
    "SecondFactorPage",
    filters("next"),
  ),
  entrancePage(
    "/confirmed",
    () => import("../pages/entrance/confirmed-page.tsx"),
    "ConfirmedPage",
    filters("problem"),
  ),
];
export const shared = pagesBelow(root)(
  "/shared/$token",
  () => import("../pages/shared/shared-page.tsx"),
  "SharedPage",
);

const operatorPage = pagesBelow(operator);

export const operatorPages = [
  operatorPage(
    "/accounts",
    () => import("../pages/operator/accounts-page.tsx"),
    "OperatorAccountsPage",
    filters("q", "page"),
  ),
  operatorPage("/setup", () => import("../pages/operator/setup-page.tsx"), "SetupPage"),
  operatorPage(
    "/people",
    () => import("../pages/operator/people-page.tsx"),
    "OperatorPeoplePage",
    filters("q", "page"),
  ),
  operatorPage(
    "/usage",
    () => import("../pages/usage/usage-page.tsx"),
    "OperatorUsagePage",
    rangeAnd("by", "group", "model", "upstream", "outcome", "compare", "table"),
  ),
  operatorPage("/health", () => import("../pages/operator/health-page.tsx"), "OperatorHealthPage"),
  operatorPage("/audit", () => import("../pages/operator/audit-page.tsx"), "OperatorAuditPage"),
  operatorPage(
    "/audit-trail",
    () => import("../pages/audit-trail/audit-trail-page.tsx"),
    "OperatorAuditTrailPage",
    rangeAnd("actor", "by", "action", "page"),
  ),
  operatorPage(
    "/codes",
    () => import("../pages/operator/codes-page.tsx"),
    "OperatorCodesPage",
    filters("q", "sort", "state", "page"),
  ),
  operatorPage(
    "/figures",
    () => import("../pages/operator/figures-page.tsx"),
    "FiguresPage",
    filters("risk"),
  ),
  operatorPage(
    "/subscriptions",
    () => import("../pages/operator/subscriptions-page.tsx"),
    "SubscriptionsPage",
    filters("q", "sort", "state", "page"),
  ),
  operatorPage(
    "/management-keys",
    () => import("../pages/management-keys/management-keys-page.tsx"),
    "OperatorManagementKeysPage",
  ),
];
