import { Link, type LinkProps } from "@tanstack/react-router";
import type { ComponentProps, MouseEvent } from "react";
import styles from "./button.module.css";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./icons.tsx";

interface Look {
  /** `primary` once per page at most. Default: `plain`. */
  readonly look?: "primary" | "plain" | "danger" | "quiet";
  readonly size?: "small" | "medium";
  readonly icon?: IconName;
}

type ButtonProps = Look & ComponentProps<"button"> & { readonly isBusy?: boolean };

/** A button with a text. While busy it keeps its place and takes no second press. */
export function Button({ look, size, icon, isBusy = false, children, className, ...rest }: ButtonProps) {
  // A disabled button would lose the focus.
  const refuse = (event: MouseEvent) => event.preventDefault();
  return (
    <button
      type="button"
      {...rest}
      className={classes(classOf({ look, size }), className)}
      {...(isBusy && { onClick: refuse, "aria-busy": true, "aria-disabled": true })}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that is an icon; `label` is its name and its title. */
export function IconButton({
  icon,
  label,
  look = "quiet",
  size,
  className,
  ...rest
}: Omit<ButtonProps, "icon" | "isBusy"> & { readonly icon: IconName; readonly label: string }) {
  return (
    <button
      type="button"
      title={label}
      {...rest}
      aria-label={label}
      className={classes(classOf({ look, size }), styles.icon, className)}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A link of the console that looks like a button. */
export function ButtonLink({
  look,
  size,
  icon,
  label,
  children,
  ...link
}: Look &
  LinkProps & {
    /** Its name where the text alone is that of several links; begins with the text. */
    readonly label?: string;
    readonly children: string;
  }) {
  return (
    <Link {...link} className={classOf({ look, size })} aria-label={label}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  );
}

/** A link to a file of the API that looks like a button. */
export function DownloadLink({
  look,
  size,
  href,
  label,
  children,
}: Pick<Look, "look" | "size"> & {
  readonly href: string;
  /** Its name where the text alone is that of several links; begins with the text. */
  readonly label?: string;
  readonly children: string;
}) {
  return (
    <a href={href} download className={classOf({ look, size })} aria-label={label}>
      <Icon name="download" />
      {children}
    </a>
  );
}

function classOf({ look = "plain", size }: { look?: Look["look"]; size?: Look["size"] }): string {
  return classes(styles.button, look !== "plain" && styles[look], size === "small" && styles.small);
}
