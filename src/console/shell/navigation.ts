import type { LinkProps } from "@tanstack/react-router";
import { type AccountNeed, PERMISSIONS } from "../../http/console/permissions.ts";
import type { IconName } from "../parts/icons.tsx";

/** One page of the side navigation. */
export interface NavPage {
  readonly to: LinkProps["to"];
  readonly text: string;
  readonly icon: IconName;
  /** Hidden from roles without it. */
  readonly needs?: AccountNeed;
  /** The letter after `g` that leads there. */
  readonly letter?: string;
}

/** Pages under one heading. */
export interface NavGroup {
  readonly title: string;
  readonly pages: readonly NavPage[];
}

/** Pages of one account, in groups. */
const ACCOUNT_NAV: readonly NavGroup[] = [
  {
    title: "Traffic",
    pages: [
      { to: "/accounts/$account", text: "Overview", icon: "overview", letter: "o" },
      { to: "/accounts/$account/usage", text: "Usage", icon: "usage", letter: "u" },
      { to: "/accounts/$account/requests", text: "Requests", icon: "requests", letter: "r" },
      { to: "/accounts/$account/refusals", text: "Refusals", icon: "refusal", letter: "f" },
    ],
  },
  {
    title: "Build",
    pages: [
      { to: "/accounts/$account/keys", text: "Keys", icon: "key", letter: "k" },
      { to: "/accounts/$account/projects", text: "Projects", icon: "project", letter: "j" },
      { to: "/accounts/$account/models", text: "Models", icon: "model", letter: "m" },
      {
        to: "/accounts/$account/playground",
        text: "Playground",
        icon: "playground",
        letter: "p",
        needs: "playground",
      },
    ],
  },
  {
    title: "Account",
    pages: [
      { to: "/accounts/$account/wallet", text: "Wallet", icon: "wallet", letter: "w" },
      { to: "/accounts/$account/notices", text: "Notices", icon: "bell", letter: "n" },
      { to: "/accounts/$account/team", text: "Team", icon: "team", letter: "t" },
      { to: "/accounts/$account/links", text: "Shared links", icon: "link", needs: "links.read" },
      {
        to: "/accounts/$account/management-keys",
        text: "Management keys",
        icon: "api",
        needs: "management_keys.read",
      },
      { to: "/accounts/$account/audit-trail", text: "Audit trail", icon: "trail", needs: "audit.read" },
      { to: "/accounts/$account/settings", text: "Settings", icon: "settings" },
    ],
  },
];

/** Pages of platform operators. */
const OPERATOR_NAV: NavGroup = {
  title: "Operator",
  pages: [
    { to: "/operator/accounts", text: "Accounts", icon: "accounts", letter: "a" },
    { to: "/operator/people", text: "People", icon: "person" },
    { to: "/operator/subscriptions", text: "Subscriptions", icon: "wallet" },
    { to: "/operator/codes", text: "Redeem codes", icon: "code" },
    { to: "/operator/usage", text: "All usage", icon: "usage" },
    { to: "/operator/figures", text: "Figures", icon: "overview" },
    { to: "/operator/health", text: "Health", icon: "health", letter: "h" },
    { to: "/operator/audit", text: "Ledger audit", icon: "audit" },
    { to: "/operator/audit-trail", text: "Audit trail", icon: "trail" },
    { to: "/operator/management-keys", text: "Management keys", icon: "api" },
    { to: "/operator/setup", text: "Set up", icon: "model" },
  ],
};

interface Viewer {
  /** The role in the account in view; `undefined` without one. */
  readonly role: string | undefined;
  readonly isOperator: boolean;
}

/** The pages that a person may open: those of the account in view by role, and the operators'. */
export function listNavigation({ role, isOperator }: Viewer): readonly NavGroup[] {
  const may = ({ needs }: NavPage) => {
    const roles: readonly string[] | undefined = needs && PERMISSIONS[needs].roles;
    return role !== undefined && (roles?.includes(role) ?? true);
  };
  const own = ACCOUNT_NAV.map(({ title, pages }) => ({ title, pages: pages.filter(may) }));
  const groups = isOperator ? [...own, OPERATOR_NAV] : own;
  return groups.filter(({ pages }) => pages.length > 0);
}
