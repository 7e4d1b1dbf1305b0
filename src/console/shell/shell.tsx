import { Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { Suspense, useEffect, useRef, useState } from "react";
import { setConfirmPassword } from "../api.ts";
import { ButtonLink, IconButton } from "../parts/button.tsx";
import { Empty } from "../parts/loaded.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { lazyPart } from "../reachable.ts";
import { useIsInAccount, useMe } from "../session.ts";
import { useAccountInView, useNavigation } from "./account-in-view.ts";
import { Brand } from "./brand.tsx";
import type { NavGroup } from "./navigation.ts";
import styles from "./shell.module.css";
import { SideNavigation } from "./side-navigation.tsx";
import { Strips } from "./strips.tsx";

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

/** Longer than a dialog takes to give the focus back. */
const GIVEN_BACK_MS = 100;

/**
 * Keeps the focus when its element goes: from a deleted row it moves to the table, from a page that is left to the next
 * one. Without it, a keyboard would begin at the top again.
 */
export function keepFocus(): void {
  let path: readonly Element[] = [];
  /** Where the focus was in the page before a dialog took it. */
  let below = path;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isLost = () => document.activeElement === document.body && path[0]?.isConnected === false;
  const keep = () => {
    // What opens takes the focus itself.
    if (!isLost() || isBelowPopup()) return;
    const next =
      [...path, ...below].find((each) => each.isConnected && each.hasAttribute("tabindex")) ??
      document.querySelector("main");
    if (next instanceof HTMLElement) next.focus({ preventScroll: true });
  };
  document.addEventListener("focusin", (event) => {
    if (path.some(({ localName }) => localName === "main")) below = path;
    path = event.composedPath().filter((each) => each instanceof Element);
  });
  new MutationObserver(() => {
    if (!isLost()) return;
    clearTimeout(timer);
    timer = setTimeout(keep, GIVEN_BACK_MS);
  }).observe(document.body, { childList: true, subtree: true });
}

/** What opens over the page. */
type Overlay = "palette" | "keys" | undefined;

/** How long after `g` the second letter may come. */
const SEQUENCE_MS = 1_200;

/** `Ctrl K` opens the palette, `?` the list of keys, `g` and a letter a page. Letters do nothing in dialogs and texts. */
function useShortcuts(open: (overlay: Overlay) => void): void {
  const navigate = useNavigate();
  const account = useAccountInView()?.id;
  const groups = useNavigation();
  const pressedG = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        open("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isEdited(event.target) || isBelowPopup()) return;
      if (event.key === "?") open("keys");
      const isSecond = event.timeStamp - pressedG.current < SEQUENCE_MS;
      pressedG.current = event.key === "g" ? event.timeStamp : 0;
      const page = isSecond ? pageOf(event.key, groups) : undefined;
      if (!page?.to) return;
      event.preventDefault();
      void navigate({ to: page.to, params: { account: account ?? "" } } as never);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [open, navigate, account, groups]);
}

function pageOf(letter: string, groups: readonly NavGroup[]) {
  return groups.flatMap(({ pages }) => pages).find((page) => page.letter === letter);
}

/** A list of choices stays in the document when it is closed. */
const POPUPS =
  'dialog[open], [role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]:not([data-closed])';

/** A page that is left below a dialog would lose what was typed into it. A menu takes letters for itself. */
function isBelowPopup(): boolean {
  return document.querySelector(POPUPS) !== null;
}

function isEdited(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Pages of one account, or a message for a person who is not one of its members. */
export function AccountFrame() {
  return useIsInAccount() ? <Outlet /> : <NotInAccount />;
}

function NotInAccount() {
  const { person, accounts } = useMe();
  const { account } = useParams({ strict: false });
  const [first] = accounts;
  return (
    <>
      <PageHeader title="You are not in this account" />
      <div role="alert">
        <Empty
          icon="team"
          title={person.is_operator ? "You do not act inside it now" : "You have no access"}
          actions={
            <>
              {person.is_operator && (
                <ButtonLink to="/operator/accounts" search={{ q: account }}>
                  Find it in the list
                </ButtonLink>
              )}
              {first && (
                <ButtonLink to="/accounts/$account" params={{ account: first.id }}>
                  {`Go to ${first.name}`}
                </ButtonLink>
              )}
              <ButtonLink to="/profile">Your profile</ButtonLink>
            </>
          }
        >
          {person.is_operator
            ? "Operators act inside an account for 30 minutes at a time: begin from the list of accounts."
            : "There is no account with this address, or an owner has removed you. An owner can invite you again."}
        </Empty>
      </div>
    </>
  );
}
