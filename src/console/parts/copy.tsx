import { useEffect, useState } from "react";
import { Button, IconButton } from "./button.tsx";

const SHOWN_MS = 1_500;

interface CopyProps {
  /** What is copied. */
  readonly text: string;
  /** Name of the button: "Copy key". */
  readonly label: string;
  /** Shows the label beside the icon. */
  readonly hasText?: boolean;
}

/** Copies a text and confirms it. */
export function Copy({ text, label, hasText = false }: CopyProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => void navigator.clipboard.writeText(text).then(() => setIsCopied(true));
  const icon = isCopied ? "check" : "copy";
  const name = isCopied ? "Copied" : label;
  if (!hasText) return <IconButton icon={icon} label={name} size="small" onClick={copy} />;
  return (
    <Button icon={icon} onClick={copy}>
      {name}
    </Button>
  );
}
