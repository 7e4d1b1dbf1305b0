import { Outlet, useRouterState } from "@tanstack/react-router";
import { Suspense, useEffect, useRef, useState } from "react";
import { setConfirmPassword } from "../confirm-password.ts";
import { IconButton } from "../parts/button.tsx";
import { lazyPart } from "../reachable.ts";
import { useAccountInView } from "./account-in-view.ts";
import { Brand } from "./brand.tsx";
import styles from "./shell.module.css";
import { SideNavigation } from "./side-navigation.tsx";
import { Strips } from "./strips.tsx";
import { type Overlay, useShortcuts } from "./use-shortcuts.ts";

const Palette = lazyPart(() => import("./palette.tsx"), "Palette");
const KeysHelp = lazyPart(() => import("./keys-help.tsx"), "KeysHelp");
const ConfirmPasswordDialog = lazyPart(
  () => import("./confirm-password-dialog.tsx"),
  "ConfirmPasswordDialog",
);

type Answer = (isConfirmed: boolean) => void;

/** The frame of every page of signed-in people: navigation, strips, page, and what opens over it. */
export function Shell() {
  const [overlay, setOverlay] = useState<Overlay>();
  const [answer, setAnswer] = useState<{ readonly give: Answer }>();
  const main = useRef<HTMLElement>(null);
  useShortcuts(setOverlay);
  useEffect(() => {
    setConfirmPassword(() => new Promise((resolve) => setAnswer({ give: resolve })));
    return () => setConfirmPassword(undefined);
  }, []);
  const endConfirmation = (isConfirmed: boolean) => {
    answer?.give(isConfirmed);
    setAnswer(undefined);
  };
  return (
    <>
      <button type="button" className={styles.skip} onClick={() => main.current?.focus()}>
        Skip to the page
      </button>
      <Strips />
      <div className={styles.shell}>
        <aside className={styles.side}>
          <SideNavigation onSearch={() => setOverlay("palette")} />
        </aside>
        <TopBar onSearch={() => setOverlay("palette")} />
        <main ref={main} id="main" tabIndex={-1} className={styles.main}>
          <Outlet />
        </main>
      </div>
      <Suspense>
        {overlay === "palette" && <Palette onClose={() => setOverlay(undefined)} />}
        {overlay === "keys" && <KeysHelp onClose={() => setOverlay(undefined)} />}
        {answer && <ConfirmPasswordDialog onEnd={endConfirmation} />}
      </Suspense>
    </>
  );
}

/** Above the page on narrow screens, where the navigation is a drawer. */
function TopBar({ onSearch }: { readonly onSearch: () => void }) {
  const [isOpen, setIsOpen] = useState(false);
  const account = useAccountInView();
  return (
    <header className={styles.bar}>
      <IconButton icon="menu" label="Open navigation" onClick={() => setIsOpen(true)} />
      <Brand />
      <span className={styles.name}>{account?.name ?? "Tollgate"}</span>
      <IconButton icon="search" label="Search" onClick={onSearch} />
      {isOpen && <Drawer onClose={() => setIsOpen(false)} onSearch={onSearch} />}
    </header>
  );
}

function Drawer({ onClose, onSearch }: { readonly onClose: () => void; readonly onSearch: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [firstPath] = useState(path);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (path !== firstPath) onClose();
  }, [path, firstPath, onClose]);
  const search = () => {
    onClose();
    onSearch();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={dialog}
      className={styles.drawer}
      aria-label="Navigation"
      onClose={onClose}
      onClick={({ target, currentTarget }) => {
        // A link to the page that is open changes no path.
        if (target === currentTarget || (target as Element).closest("a")) onClose();
      }}
    >
      <SideNavigation onSearch={search} />
    </dialog>
  );
}
