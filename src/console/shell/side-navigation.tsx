import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Disclosure } from "../parts/disclosure.tsx";
import { Icon } from "../parts/icons.tsx";
import { accountNowQuery, type EnterableAccount, useMayCreateAccount, useMe } from "../session.ts";
import { useAccountInView, useNavigation } from "./account-in-view.ts";
import { Brand } from "./brand.tsx";
import type { NavPage } from "./navigation.ts";
import { applyTheme, readTheme, THEMES, type Theme, useSignOut } from "./person-actions.ts";
import styles from "./side-navigation.module.css";

/** Account switcher, pages by role, and the person's own menu. */
export function SideNavigation({ onSearch }: { readonly onSearch: () => void }) {
  const account = useAccountInView();
  const groups = useNavigation();
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
        {groups.map(({ title, pages }) => (
          <Group key={title} title={title}>
            {pages.map((page) => (
              <PageLink key={page.to} page={page} account={account?.id ?? ""} />
            ))}
          </Group>
        ))}
      </nav>
      <div className={styles.bottom}>
        <PersonMenu />
      </div>
    </div>
  );
}

function AccountSwitcher({ account }: { readonly account: EnterableAccount | undefined }) {
  const { accounts, person } = useMe();
  const mayCreate = useMayCreateAccount();
  return (
    <Disclosure
      summaryClass={styles.switcher ?? ""}
      summary={
        <>
          <Brand size={26} />
          <span className={styles.account}>
            <span className={styles.name} title={account?.name}>
              {account?.name ?? "Tollgate"}
            </span>
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
            <span className={styles.text} title={name}>
              {name}
            </span>
            <span className={styles.role}>{role}</span>
          </Link>
        ))}
        {mayCreate && (
          <>
            <div className={styles.line} />
            <Link to="/profile" className={styles.choice} hash="accounts">
              <Icon name="plus" /> New account
            </Link>
          </>
        )}
      </div>
    </Disclosure>
  );
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
  const unread = useQuery(accountNowQuery(account)).data?.unread_notices;
  if (!unread) return null;
  return (
    <span className={styles.count} title={`${unread} unread`}>
      {unread > 99 ? "99+" : unread}
    </span>
  );
}

/** Profile, theme, API and sign-out. */
function PersonMenu() {
  const { person } = useMe();
  return (
    <Disclosure
      summaryClass={styles.switcher ?? ""}
      summary={
        <>
          <Icon name="person" size={20} />
          <span className={styles.account}>
            <span className={styles.name} title={person.name}>
              {person.name}
            </span>
            <span className={styles.role} title={person.email}>
              {person.email}
            </span>
          </span>
        </>
      }
    >
      <div className={`${styles.popup} ${styles.above}`}>
        <Link to="/profile" className={styles.choice}>
          <Icon name="person" /> Profile and sessions
        </Link>
        <Link to="/api/docs" className={styles.choice}>
          <Icon name="api" /> API description
        </Link>
        <div className={styles.line} />
        <ThemeSwitch />
        <div className={styles.line} />
        <SignOut />
      </div>
    </Disclosure>
  );
}

function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme);
  const choose = (next: Theme) => {
    setTheme(next);
    applyTheme(next);
  };
  return (
    <fieldset className={styles.themes} aria-label="Theme">
      {THEMES.map((name) => (
        <button
          key={name}
          type="button"
          className={styles.theme}
          aria-pressed={name === theme}
          onClick={() => choose(name)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  );
}

function SignOut() {
  const signOut = useSignOut();
  return (
    <button
      type="button"
      className={styles.choice}
      disabled={signOut.isPending}
      onClick={() => signOut.mutate()}
    >
      <Icon name="leave" /> Sign out
    </button>
  );
}
