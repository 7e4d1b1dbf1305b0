import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { PERMISSIONS } from "../../http/console/permissions.ts";
import { api, call } from "../api.ts";
import { Disclosure } from "../parts/disclosure.tsx";
import { Icon } from "../parts/icons.tsx";
import { useMe } from "../session.ts";
import { type AccountInView, useAccountInView } from "./account-in-view.ts";
import { Brand } from "./brand.tsx";
import { ACCOUNT_NAV, type NavPage, OPERATOR_NAV } from "./navigation.ts";
import { PersonMenu } from "./person-menu.tsx";
import styles from "./side-navigation.module.css";

const NOTICES_MS = 60_000;

/** Account switcher, pages by role, and the person's own menu. */
export function SideNavigation({ onSearch }: { readonly onSearch: () => void }) {
  const { person } = useMe();
  const account = useAccountInView();
  return (
    <div className={styles.nav}>
      <div className={styles.top}>
        <AccountSwitcher account={account} />
        <button type="button" className={styles.search} onClick={onSearch}>
          <Icon name="search" />
          <span>Search</span>
          <kbd>Ctrl K</kbd>
        </button>
      </div>
      <nav className={styles.pages} aria-label="Pages">
        {account && <AccountPages account={account} />}
        {person.is_operator && (
          <Group title={OPERATOR_NAV.title}>
            {OPERATOR_NAV.pages.map((page) => (
              <PageLink key={page.to} page={page} account="" />
            ))}
          </Group>
        )}
      </nav>
      <div className={styles.bottom}>
        <PersonMenu />
      </div>
    </div>
  );
}

function AccountSwitcher({ account }: { readonly account: AccountInView | undefined }) {
  const { accounts, person } = useMe();
  return (
    <Disclosure
      summaryClass={styles.switcher ?? ""}
      summary={
        <>
          <Brand size={26} />
          <span className={styles.account}>
            <span className={styles.name}>{account?.name ?? "Tollgate"}</span>
            <br />
            <span className={styles.role}>
              {account?.role ?? (person.is_operator ? "operator" : "no account")}
            </span>
          </span>
          <Icon name="chevron" />
        </>
      }
    >
      <div className={`${styles.popup} ${styles.below}`}>
        {accounts.map(({ id, name, role }) => (
          <Link key={id} to="/accounts/$account" params={{ account: id }} className={styles.choice}>
            <span className={styles.text}>{name}</span>
            <span className={styles.role}>{role}</span>
          </Link>
        ))}
        <div className={styles.line} />
        <Link to="/profile" className={styles.choice} hash="accounts">
          <Icon name="plus" /> New account
        </Link>
      </div>
    </Disclosure>
  );
}

function AccountPages({ account }: { readonly account: AccountInView }) {
  const may = ({ needs }: NavPage) => {
    const roles: readonly string[] | undefined = needs && PERMISSIONS[needs].roles;
    return roles?.includes(account.role) ?? true;
  };
  return ACCOUNT_NAV.map(({ title, pages }) => (
    <Group key={title} title={title}>
      {pages.filter(may).map((page) => (
        <PageLink key={page.to} page={page} account={account.id} />
      ))}
    </Group>
  ));
}

function Group({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div className={styles.group}>
      <h2 className={styles.heading}>{title}</h2>
      {children}
    </div>
  );
}

function PageLink({ page, account }: { readonly page: NavPage; readonly account: string }) {
  const isOverview = page.to === "/accounts/$account";
  return (
    <Link
      to={page.to ?? "."}
      params={{ account } as never}
      className={styles.page}
      activeOptions={{ exact: isOverview, includeSearch: false }}
    >
      <Icon name={page.icon} />
      <span className={styles.text}>{page.text}</span>
      {page.icon === "bell" && <UnreadCount account={account} />}
    </Link>
  );
}

function UnreadCount({ account }: { readonly account: string }) {
  const { data } = useQuery({
    queryKey: ["account", account, "notices", "unread"],
    queryFn: () => call(() => api.accounts({ account }).notices.get({ query: {} })),
    refetchInterval: NOTICES_MS,
    retry: false,
  });
  if (!data?.unread) return null;
  return (
    <span className={styles.count} title={`${data.unread} unread`}>
      {data.unread > 99 ? "99+" : data.unread}
    </span>
  );
}
