import { classes } from "./classes.ts";
import styles from "./code-block.module.css";
import { Copy } from "./copy.tsx";

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
