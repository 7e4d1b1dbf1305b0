import { useEffect, useState } from "react";
import { Button, IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import styles from "./code-block.module.css";
import type { IconName } from "./icons.tsx";

interface CodeBlockProps {
  readonly code: string;
  /** What the code is: "curl command". Names the block and its button. */
  readonly label: string;
  /** Breaks long lines instead of scrolling. */
  readonly isWrapped?: boolean;
}

/** Code to be copied. */
export function CodeBlock({ code, label, isWrapped = false }: CodeBlockProps) {
  return (
    <div className={styles.block}>
      <pre
        className={classes(styles.code, isWrapped && styles.wrapped)}
        tabIndex={0}
        role="region"
        aria-label={label}
      >
        <code>{code}</code>
      </pre>
      <span className={styles.copy}>
        <Copy text={code} label={`Copy ${label}`} />
      </span>
    </div>
  );
}

const SHOWN_MS = 1_500;

interface CopyProps {
  /** What is copied. */
  /** A function for a text of the moment, such as the address of the page. */
  readonly text: string | (() => string);
  /** Name of the button: "Copy key". */
  readonly label: string;
  /** Default: two sheets. */
  readonly icon?: IconName;
  /** Shows the label beside the icon. */
  readonly hasText?: boolean;
}

/** Copies a text and confirms it. */
export function Copy({ text, label, icon: usual = "copy", hasText = false }: CopyProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => void copyText(typeof text === "string" ? text : text()).then(setIsCopied);
  const icon = isCopied ? "check" : usual;
  const name = isCopied ? "Copied" : label;
  if (!hasText) return <IconButton icon={icon} label={name} size="small" onClick={copy} />;
  return (
    <Button icon={icon} onClick={copy}>
      {name}
    </Button>
  );
}

/** An id with its button, on one line where there is room. */
export function CopiedId({ id, label }: { readonly id: string; readonly label: string }) {
  return (
    <span className={styles.id}>
      <code>{id}</code>
      <Copy text={id} label={label} />
    </span>
  );
}

/** Resolves with whether the text was copied. Pages without https have no clipboard but the old command. */
async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement("textarea");
  area.value = text;
  // Inside of an open dialog, which keeps the focus to itself.
  const parent = document.activeElement?.parentElement ?? document.body;
  parent.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}

/** Prints JSON with a line for each member; a text that is no JSON, or was cut, stays as it is. */
export function printPretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
