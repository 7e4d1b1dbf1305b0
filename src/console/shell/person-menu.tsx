import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, call } from "../api.ts";
import { Disclosure } from "../parts/disclosure.tsx";
import { Icon } from "../parts/icons.tsx";
import { useMe } from "../session.ts";
import styles from "./side-navigation.module.css";

const THEMES = ["system", "light", "dark"] as const;
const THEME_KEY = "tollgate-theme";

type Theme = (typeof THEMES)[number];

/** Profile, theme, API and sign-out. */
export function PersonMenu() {
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
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: () => call(() => api["sign-out"].post({})),
    onSettled: async () => {
      await navigate({ to: "/sign-in" });
      queryClient.clear();
    },
  });
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

function readTheme(): Theme {
  const stored = localStorage.getItem(THEME_KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

function applyTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(THEME_KEY);
    delete document.documentElement.dataset.theme;
    return;
  }
  localStorage.setItem(THEME_KEY, theme);
  document.documentElement.dataset.theme = theme;
}
