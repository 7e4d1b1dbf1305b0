import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import styles from "./tabs.module.css";

interface TabsProps {
  /** What the tabs divide: "Snippets". */
  readonly label: string;
  readonly tabs: readonly { readonly id: string; readonly title: string; readonly content: ReactNode }[];
  /** The chosen tab, where the URL holds it. */
  readonly value?: string;
  readonly onChange?: (id: string) => void;
}

/** Tabs, each with a panel; only the panel of the chosen tab is shown. */
export function Tabs({ label, tabs, value, onChange }: TabsProps) {
  const chosen = value === undefined ? { defaultValue: tabs[0]?.id } : { value };
  return (
    <Base.Root {...chosen} onValueChange={(id) => typeof id === "string" && onChange?.(id)}>
      <Base.List className={styles.list} aria-label={label}>
        {tabs.map(({ id, title }) => (
          <Base.Tab key={id} value={id} className={styles.tab}>
            {title}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ id, content }) => (
        <Base.Panel key={id} value={id} className={styles.panel}>
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
