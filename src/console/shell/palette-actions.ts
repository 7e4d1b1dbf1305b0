import type { AccountNeed } from "../../http/console/permissions.ts";
import type { NamedKey } from "../queries/overview.ts";
import type { EnterableAccount } from "../session.ts";
import type { RecentPlace } from "../views.ts";
import type { Hit } from "./palette-hits.ts";
import { THEMES, type Theme } from "./person-actions.ts";

/** A page that opens with something to do. */
interface Opening extends Pick<Hit, "title" | "icon" | "to"> {
  readonly needs: AccountNeed;
  /** What the page opens: its name in the URL's search. */
  readonly opens: string;
}

const OPENINGS: readonly Opening[] = [
  {
    title: "Create a key",
    icon: "key",
    to: "/accounts/$account/keys",
    needs: "keys.create",
    opens: "create",
  },
  {
    title: "Top up the wallet",
    icon: "wallet",
    to: "/accounts/$account/wallet",
    needs: "wallet.write",
    opens: "topup",
  },
  // An operator who acts in an account invites only while it has no owner, as its page says.
  {
    title: "Invite a person",
    icon: "team",
    to: "/accounts/$account/team",
    needs: "links.write",
    opens: "invite",
  },
  {
    title: "Create a project",
    icon: "project",
    to: "/accounts/$account/projects",
    needs: "projects.write",
    opens: "create",
  },
];

interface Actions {
  readonly account: EnterableAccount | undefined;
  /** Whether the role in the account in view has a right. */
  readonly may: (need: AccountNeed) => boolean;
  readonly accounts: readonly EnterableAccount[];
  /** The keys whose limit may be set. */
  readonly keys: readonly NamedKey[];
  readonly applyTheme: (theme: Theme) => void;
  readonly signOut: () => void;
}

const SHOWN_KEYS_MAX = 6;

/** Everything that the person may do from anywhere. Nothing is listed that the role refuses. */
export function listActions({ account, may, accounts, keys, applyTheme, signOut }: Actions): readonly Hit[] {
  const params = { account: account?.id ?? "" };
  const openings = OPENINGS.filter(({ needs }) => account && may(needs)).map(
    ({ title, icon, to, opens }): Hit => ({
      id: `action-${to}-${opens}`,
      title,
      kind: "action",
      icon,
      to,
      params,
      search: { [opens]: "1" },
    }),
  );
  const others = accounts.filter(({ id }) => id !== account?.id);
  return [
    ...openings,
    ...keys.map(
      ({ id, name }): Hit => ({
        id: `limit-${id}`,
        title: `Set the limit of ${name}`,
        kind: "action",
        icon: "key",
        to: "/accounts/$account/keys/$key",
        params: { ...params, key: id },
        search: { tab: "edit" },
      }),
    ),
    ...others.map(
      ({ id, name }): Hit => ({
        id: `switch-${id}`,
        title: `Switch to ${name}`,
        kind: "account",
        icon: "accounts",
        to: "/accounts/$account",
        params: { account: id },
      }),
    ),
    ...THEMES.map((theme) => does(`Theme: ${theme}`, () => applyTheme(theme))),
    does("Sign out", signOut),
  ];
}

function does(title: string, run: () => void): Hit {
  return {
    id: `do-${title}`,
    title,
    kind: "action",
    icon: title === "Sign out" ? "leave" : "settings",
    to: "",
    params: {},
    run,
  };
}

/** Of the actions that match, the first keys alone, and none before anything is typed. */
export function shortenActions(hits: readonly Hit[], text: string): readonly Hit[] {
  const isOfKey = ({ id }: Hit) => id.startsWith("limit-");
  const shown = new Set(hits.filter(isOfKey).slice(0, text.trim() === "" ? 0 : SHOWN_KEYS_MAX));
  return hits.filter((hit) => !isOfKey(hit) || shown.has(hit));
}

/** The places that were looked at last, without the page that is open. */
export function recentHits(places: readonly RecentPlace[]): readonly Hit[] {
  return places.slice(1).map(({ path, title }): Hit => {
    const [to = "/", search = ""] = path.split("?");
    return {
      id: `recent-${path}`,
      title,
      kind: "recent",
      icon: "requests",
      to,
      params: {},
      search: Object.fromEntries(new URLSearchParams(search)),
    };
  });
}
