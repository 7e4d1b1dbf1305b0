import type { IconName } from "../parts/icons.tsx";
import type { NavGroup } from "./navigation.ts";

/** One line of the palette. */
export interface Hit {
  readonly id: string;
  readonly title: string;
  /** What it is, at the end of the line. */
  readonly kind: string;
  readonly icon: IconName;
  readonly to: string;
  readonly params: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
  /** What is done instead of going somewhere. */
  readonly run?: () => void;
}

/** What the server found. */
interface Found {
  readonly kind: "request" | "refusal" | "key" | "model" | "account";
  readonly account_id: string | null;
  readonly id: string;
  readonly title: string;
}

const TARGETS = {
  request: { icon: "requests", to: "/accounts/$account/requests/$request", param: "request" },
  refusal: { icon: "refusal", to: "/accounts/$account/refusals/$request", param: "request" },
  key: { icon: "key", to: "/accounts/$account/keys/$key", param: "key" },
  model: { icon: "model", to: "/accounts/$account/models/$model", param: "model" },
  account: { icon: "accounts", to: "/accounts/$account", param: "account" },
} as const satisfies Record<Found["kind"], { icon: IconName; to: string; param: string }>;

/** Where a find of the server leads. A model of no account is shown in the account in view. */
export function hitOf({ kind, account_id, id, title }: Found, account: string): Hit {
  const { icon, to, param } = TARGETS[kind];
  return {
    id: `${kind}-${id}`,
    title,
    kind,
    icon,
    to,
    params: { account: account_id ?? account, [param]: id },
  };
}

/** Pages whose name has every word of the text; all of them for an empty text. */
export function matchPages(
  text: string,
  { account, groups }: { readonly account: string; readonly groups: readonly NavGroup[] },
): readonly Hit[] {
  const pages = groups.flatMap(({ title, pages: all }) => all.map((page) => ({ ...page, group: title })));
  const own = [
    { to: "/profile", text: "Profile and sessions", icon: "person", group: "Own" },
    { to: "/api/docs", text: "API description", icon: "api", group: "Own" },
  ] as const;
  return [...pages, ...own]
    .filter((page) => hasWords(`${page.text} ${page.group}`, text))
    .map((page) => ({
      id: `page-${page.to}`,
      title: page.text,
      kind: page.group,
      icon: page.icon,
      to: page.to ?? "/",
      params: { account },
    }));
}

/** Whether a line has every word of a text, in any case. */
export function hasWords(line: string, text: string): boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => line.toLowerCase().includes(word));
}

/** Lines that begin with the text come first. */
export function rankHits(hits: readonly Hit[], text: string): readonly Hit[] {
  const start = text.trim().toLowerCase();
  const rank = ({ title }: Hit) => (start !== "" && title.toLowerCase().startsWith(start) ? 0 : 1);
  return hits.toSorted((one, other) => rank(one) - rank(other));
}
