import { useQuery } from "@tanstack/react-query";
import { api, call } from "../../api.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import type { Column } from "../../parts/data-table.tsx";
import { ListTable } from "../../parts/list-table.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Time } from "../../parts/time.tsx";
import { useAction } from "../../use-action.ts";
import styles from "./profile.module.css";

const KEY = ["me", "sessions"];

type Session = Awaited<ReturnType<typeof fetchSessions>>["items"][number];

const fetchSessions = () => call(() => api.me.sessions.get());

/** Where the person is signed in; each session can be ended. */
export function Sessions() {
  const list = useQuery({ queryKey: KEY, queryFn: fetchSessions });
  const end = useAction({
    act: (session: string) => call(() => api.me.sessions({ session }).delete()),
    renews: [KEY],
    done: "Session ended",
  });
  const endOthers = useAction({
    act: () => call(() => api.me.sessions["end-others"].post()),
    renews: [KEY],
    done: "All other sessions have ended",
  });
  const hasOthers = (list.data?.items.length ?? 0) > 1;
  return (
    <Panel
      title="Sessions"
      note="Where you are signed in. End those that you do not know, then change the password."
      isFlush
      actions={
        hasOthers && (
          <Button look="danger" isBusy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            End all others
          </Button>
        )
      }
    >
      <ListTable
        name="sessions"
        caption="Sessions"
        columns={columnsWith((id) => end.mutate(id))}
        rowKey={({ id }) => id}
        empty={null}
        query={list}
        skeletonRows={2}
      />
    </Panel>
  );
}

function columnsWith(end: (id: string) => void): readonly Column<Session>[] {
  return [
    {
      id: "agent",
      order: ({ agent }) => describeAgent(agent),
      header: "Browser",
      cell: ({ agent, address }) => (
        <span className={styles.agent} title={agent ?? ""}>
          {describeAgent(agent)}
          <small>{address ?? "Unknown address"}</small>
        </span>
      ),
    },
    {
      id: "seen",
      order: ({ last_seen_at }) => last_seen_at,
      header: "Last seen",
      cell: ({ last_seen_at }) => <Time at={last_seen_at} as="relative" />,
    },
    {
      id: "created",
      order: ({ created_at }) => created_at,
      header: "Signed in",
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      id: "expires",
      order: ({ expires_at }) => expires_at,
      header: "Ends",
      cell: ({ expires_at }) => <Time at={expires_at} as="date" />,
    },
    {
      id: "end",
      header: "",
      align: "end",
      cell: ({ id, current, agent }) =>
        current ? (
          <Badge tone="good">This browser</Badge>
        ) : (
          <Button
            size="small"
            aria-label={`End the session of ${describeAgent(agent)}`}
            onClick={() => end(id)}
          >
            End
          </Button>
        ),
    },
  ];
}

const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["Linux", "Linux"],
] as const;

/** Names the browser and system of a `user-agent`: "Firefox on macOS". Many pretend to be others. */
function describeAgent(agent: string | null): string {
  if (agent === null || agent === "") return "Unknown browser";
  const browser = BROWSERS.find(([mark]) => agent.includes(mark))?.[1];
  const system = SYSTEMS.find(([mark]) => agent.includes(mark))?.[1];
  if (!browser) return agent.split(/[\s/]/, 1)[0]?.slice(0, 40) ?? agent;
  return system ? `${browser} on ${system}` : browser;
}
