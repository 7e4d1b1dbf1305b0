import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useAccountInView, useNavigation } from "./account-in-view.ts";
import type { NavGroup } from "./navigation.ts";

/** What opens over the page. */
export type Overlay = "palette" | "keys" | undefined;

/** How long after `g` the second letter may come. */
const SEQUENCE_MS = 1_200;

/** `Ctrl K` opens the palette, `?` the list of keys, `g` and a letter a page. Letters do nothing in dialogs and texts. */
export function useShortcuts(open: (overlay: Overlay) => void): void {
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
      if (event.ctrlKey || event.metaKey || event.altKey || isEdited(event.target) || isBelowDialog()) return;
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

/** A page that is left below a dialog would lose what was typed into it. */
function isBelowDialog(): boolean {
  return document.querySelector('dialog[open], [role="dialog"], [role="alertdialog"]') !== null;
}

function isEdited(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
