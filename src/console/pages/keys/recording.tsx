import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatCount, plural } from "../../format.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { Empty, Loaded } from "../../parts/loaded.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { type KeyPageData, useMayChange } from "../../queries/keys.ts";
import { type KeyRecording, keyRecordingQuery } from "../../queries/recordings.ts";
import { useMay } from "../../session.ts";
import styles from "./key.module.css";
import {
  bodyOf,
  DeleteAll,
  describeHours,
  PATTERN_TEXTS,
  Switch,
  useRecordingAction,
} from "./recording-dialogs.tsx";

interface RecordingProps {
  readonly account: string;
  readonly shown: KeyPageData;
}

/** Whether the key records the bodies of its requests, and the switch. */
export function Recording({ account, shown }: RecordingProps) {
  const query = useQuery(keyRecordingQuery(account, shown.id));
  return (
    <Loaded query={query}>
      {(recording) => <State account={account} shown={shown} recording={recording} />}
    </Loaded>
  );
}

/** A badge on every tab of a key whose request bodies are kept. */
export function RecordingBadge({ account, shown }: RecordingProps) {
  const { data } = useQuery(keyRecordingQuery(account, shown.id));
  return data?.is_on ? <Badge tone="warn">records bodies</Badge> : null;
}

interface StateProps extends RecordingProps {
  readonly recording: KeyRecording;
}

function State({ account, shown, recording }: StateProps) {
  const [open, setOpen] = useState<"switch" | "delete">();
  const mayRecord = useMay("recordings.write");
  const mayChange = useMayChange();
  const isMine = mayRecord && mayChange(shown);
  const stop = useRecordingAction(account, shown.id, "No more bodies are kept");
  const close = () => setOpen(undefined);
  const { is_on, is_available, count } = recording;
  return (
    <Panel
      title="Request bodies"
      note="What clients send and models answer. Nothing is kept unless it is switched on here."
      actions={
        isMine && (
          <>
            {is_on && (
              <Button
                isBusy={stop.isPending}
                onClick={() => stop.mutate({ ...bodyOf(recording), until: null })}
              >
                Switch off
              </Button>
            )}
            {is_available && shown.state === "active" && (
              <Button onClick={() => setOpen("switch")}>{is_on ? "Change" : "Switch on"}</Button>
            )}
            {count > 0 && (
              <Button look="danger" onClick={() => setOpen("delete")}>
                Delete all
              </Button>
            )}
          </>
        )
      }
    >
      {is_on || count > 0 ? (
        <Facts recording={recording} />
      ) : (
        <Empty icon="requests" title="No bodies are kept">
          {is_available
            ? "Switched on, they are redacted, encrypted and deleted after at most 7 days. Owners and developers of this account may read them, and no operator."
            : "The operator of this gateway has not set RECORDING_KEYS, with which bodies are encrypted."}
        </Empty>
      )}
      {open === "switch" && <Switch account={account} shown={shown} recording={recording} onClose={close} />}
      {open === "delete" && (
        <DeleteAll account={account} shown={shown} recording={recording} onClose={close} />
      )}
    </Panel>
  );
}

function Facts({ recording }: { readonly recording: KeyRecording }) {
  const { is_on, until, kept_hours, keeps_media, patterns, expressions, count, bytes } = recording;
  const redacted = [
    ...patterns.map((name) => PATTERN_TEXTS[name]),
    ...(expressions.length > 0 ? [`${formatCount(expressions.length)} own`] : []),
  ];
  return (
    <dl className={styles.facts}>
      <dt>Records</dt>
      <dd>{is_on && until ? <>until {<Time at={until} as="minute" />}</> : "no longer"}</dd>
      <dt>Each is kept</dt>
      <dd>{describeHours(kept_hours)}</dd>
      <dt>Redacted</dt>
      <dd>{redacted.join(", ") || "nothing"}</dd>
      <dt>Images and files</dt>
      <dd>{keeps_media ? "kept" : "their type and length"}</dd>
      <dt>Now kept</dt>
      <dd>
        {plural(count, "request")}, {formatCount(Math.ceil(bytes / 1024))} KiB
      </dd>
    </dl>
  );
}
