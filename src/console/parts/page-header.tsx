import { Link, type LinkProps } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { notePlace } from "../views.ts";
import styles from "./page-header.module.css";

interface PageHeaderProps {
  /** Also the title of the tab. */
  readonly title: string;
  /** States beside the title. */
  readonly badges?: ReactNode;
  readonly note?: ReactNode;
  /** The page above this one. */
  readonly back?: LinkProps & { readonly text: string };
  /** Range picker and actions, at the top right. */
  readonly children?: ReactNode;
}

/** The head of a page. */
export function PageHeader({ title, badges, note, back, children }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${title} · Tollgate`;
    notePlace(title);
  }, [title]);
  return (
    <header className={styles.header}>
      <div className={styles.titles}>
        {back && <BackLink {...back} />}
        <div className={styles.title}>
          <h1>{title}</h1>
          {badges}
        </div>
        {note && <p className={styles.note}>{note}</p>}
      </div>
      {children && <div className={styles.side}>{children}</div>}
    </header>
  );
}

function BackLink({ text, ...link }: LinkProps & { readonly text: string }) {
  return (
    <Link {...link} className={styles.back}>
      <span aria-hidden="true">←</span> {text}
    </Link>
  );
}
