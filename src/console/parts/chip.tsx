import { Link } from "@tanstack/react-router";
import { withSearch } from "../search.ts";
import styles from "./chip.module.css";
import { Icon } from "./icons.tsx";

interface FilterChipProps {
  /** The filter's name in the URL. */
  readonly filter: string;
  /** What is filtered: "end user". */
  readonly name: string;
  readonly text: string;
  /** What the filter has without this: nothing, unless it has several. */
  readonly rest?: string | undefined;
}

/** A filter that a row of a table has set. A press removes it. */
export function FilterChip({ filter, name, text, rest }: FilterChipProps) {
  return (
    <Link
      to="."
      search={withSearch({ [filter]: rest, page: undefined })}
      className={styles.chip}
      aria-label={`Remove the filter: ${name} ${text}`}
    >
      <span className={styles.name}>{name}</span> {text}
      <Icon name="close" size={12} />
    </Link>
  );
}
