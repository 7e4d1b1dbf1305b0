import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useAccountInView } from "./account-in-view.ts";
import { ACCOUNT_NAV, OPERATOR_NAV } from "./navigation.ts";

/** What opens over the page. */
export type Overlay = "palette" | "keys" | undefined;

/** How long after `g` the second letter may come. */
const SEQUENCE_MS = 1_200;

/** `Ctrl K` opens the palette, `?` the list of keys, `g` and a letter a page. Silent while a text is edited. */
export function useShortcuts(open: (overlay: Overlay) => void): void {
  const navigate = useNavigate();
  const account = useAccountInView()?.id;
  const pressedG = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        open("palette");
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isEdited(event.target)) return;
      if (event.key === "?") open("keys");
      const isSecond = event.timeStamp - pressedG.current < SEQUENCE_MS;
      pressedG.current = event.key === "g" ? event.timeStamp : 0;
      const page = isSecond ? pageOf(event.key) : undefined;
      if (!page?.to) return;
      event.preventDefault();
      void navigate({ to: page.to, params: { account: account ?? "" } } as never);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [open, navigate, account]);
}

function pageOf(letter: string) {
  return [...ACCOUNT_NAV, OPERATOR_NAV].flatMap(({ pages }) => pages).find((page) => page.letter === letter);
}

function isEdited(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
