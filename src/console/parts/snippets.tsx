import type { Snippet } from "../../clients/client.ts";
import { CodeBlock } from "./code-block.tsx";
import styles from "./stack.module.css";
import { Tabs } from "./tabs.tsx";

interface SnippetsProps {
  readonly snippets: readonly Snippet[];
  /** Follows the note of each. */
  readonly note?: string;
}

/** Settings and code of clients, one of them shown at a time. */
export function Snippets({ snippets, note }: SnippetsProps) {
  return (
    <Tabs
      label="Clients"
      tabs={snippets.map(({ id, title, note: where, code }) => ({
        id,
        title,
        content: (
          <div className={styles.part}>
            <p className={styles.soft}>
              {where}
              {note && ` ${note}`}
            </p>
            <CodeBlock label={`${title} snippet`} code={code} />
          </div>
        ),
      }))}
    />
  );
}
