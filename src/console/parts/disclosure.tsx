import { type ReactNode, useEffect, useRef } from "react";
import { classes } from "./classes.ts";
import styles from "./disclosure.module.css";

interface DisclosureProps {
  readonly summary: ReactNode;
  readonly className?: string;
  readonly summaryClass?: string;
  /** Links and buttons; a press on one closes. */
  readonly children: ReactNode;
}

/** A small panel behind a button. Closes on Escape, on a press outside and on a choice. */
export function Disclosure({ summary, className, summaryClass, children }: DisclosureProps) {
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const closeOutside = ({ target }: Event) => {
      const { current } = details;
      if (current?.open && target instanceof Node && !current.contains(target)) current.open = false;
    };
    const closeOnEscape = ({ key }: KeyboardEvent) => {
      if (key !== "Escape" || !details.current?.open) return;
      details.current.open = false;
      details.current.querySelector("summary")?.focus();
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("keydown", closeOnEscape);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("keydown", closeOnEscape);
    };
  }, []);
  return (
    <details ref={details} className={classes(styles.disclosure, className)}>
      <summary className={summaryClass}>{summary}</summary>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the links and buttons inside are what is pressed. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a key on a link or button clicks it too. */}
      <div
        onClick={({ target }) => {
          if (details.current && (target as Element).closest("a, button[data-closes]"))
            details.current.open = false;
        }}
      >
        {children}
      </div>
    </details>
  );
}
