import { Dialog } from "../parts/dialog.tsx";
import { useNavigation } from "./account-in-view.ts";
import styles from "./keys-help.module.css";

const GENERAL = [
  { keys: ["Ctrl", "K"], text: "Find pages, keys, models and request ids, and act" },
  { keys: ["?"], text: "Show these keys" },
  { keys: ["Esc"], text: "Close what is open" },
  { keys: ["←", "→"], text: "Move the reading of a chart that has the focus" },
  { keys: ["Shift", "←", "→"], text: "Mark a range of the chart" },
  { keys: ["Enter"], text: "Open the requests of a bar, or the range that is marked" },
];

/** The keys of the keyboard that do something. */
export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const pages = useNavigation()
    .flatMap(({ pages: all }) => all)
    .filter(({ letter }) => letter);
  const rows = [
    ...GENERAL,
    ...pages.map(({ letter = "", text }) => ({ keys: ["g", letter], text: `Go to ${text}` })),
  ];
  return (
    <Dialog title="Keyboard" isOpen onClose={onClose}>
      <dl className={styles.keys}>
        {rows.map(({ keys, text }) => (
          <Row key={text} keys={keys} text={text} />
        ))}
      </dl>
    </Dialog>
  );
}

function Row({ keys, text }: { readonly keys: readonly string[]; readonly text: string }) {
  return (
    <>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{text}</dd>
    </>
  );
}
