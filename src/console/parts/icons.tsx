import type { ReactNode } from "react";

/** Shapes on a grid of 16, drawn with a line of 1.5. */
const SHAPES = {
  overview: <path d="M2.5 7.5 8 3l5.5 4.5V13h-3.8V9.7H6.3V13H2.5z" />,
  key: (
    <>
      <circle cx="5.2" cy="10.8" r="2.7" />
      <path d="m7.2 8.8 6-6M10.8 5.2l2 2" />
    </>
  ),
  wallet: (
    <>
      <path d="M2.5 4.5h9.8a1.2 1.2 0 0 1 1.2 1.2v6.1a1.2 1.2 0 0 1-1.2 1.2H3.7a1.2 1.2 0 0 1-1.2-1.2zM2.5 4.5 10.5 2v2.5" />
      <path d="M10.8 8.8h.1" />
    </>
  ),
  usage: <path d="M2.5 13.5h11M4.2 11V8.2M7.4 11V3.5M10.6 11V6.2" />,
  requests: <path d="M3 4h10M3 8h10M3 12h6" />,
  refusal: (
    <>
      <circle cx="8" cy="8" r="5.7" />
      <path d="m4 4 8 8" />
    </>
  ),
  model: <path d="m8 2 5.5 3v6L8 14l-5.5-3V5zM2.5 5 8 8l5.5-3M8 8v6" />,
  playground: <path d="M2.5 3.5h11v7.5H8l-3 2.5V11H2.5z" />,
  team: (
    <>
      <circle cx="6" cy="5.5" r="2.5" />
      <path d="M1.8 13c.4-2.6 2-3.9 4.2-3.9s3.8 1.3 4.2 3.9M10.5 3.3a2.5 2.5 0 0 1 0 4.4M12 9.6c1.2.6 2 1.7 2.2 3.4" />
    </>
  ),
  trail: <path d="M4 2.5h8v11H4zM6.3 5.5h3.4M6.3 8h3.4M6.3 10.5h2" />,
  settings: (
    <>
      <circle cx="8" cy="8" r="2" />
      <path d="M8 2v1.8M8 12.2V14M2 8h1.8M12.2 8H14M3.8 3.8l1.2 1.2M11 11l1.2 1.2M3.8 12.2 5 11M11 5l1.2-1.2" />
    </>
  ),
  accounts: <path d="M2.5 13.5v-9l5-2v11M7.5 6l6 1.7v5.8M1.8 13.5h12.4M4.8 6v.1M4.8 8.5v.1M10.5 9.7v.1" />,
  health: <path d="M1.8 8.5h3l1.7-5 3 9 1.8-4h2.9" />,
  audit: <path d="M8 1.8 13 4v4c0 3-2.2 5.2-5 6.2C5.2 13.2 3 11 3 8V4zM5.8 8l1.6 1.6 2.9-3.2" />,
  code: <path d="M2.5 5.5h11v2a1.2 1.2 0 0 0 0 2.4v2h-11v-2a1.2 1.2 0 0 0 0-2.4zM6.5 5.5v6.4" />,
  bell: <path d="M4 11V7.2a4 4 0 0 1 8 0V11l1.2 1H2.8zM6.7 13.8h2.6" />,
  person: (
    <>
      <circle cx="8" cy="5.4" r="2.7" />
      <path d="M2.8 13.5c.6-2.8 2.6-4.2 5.2-4.2s4.6 1.4 5.2 4.2" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.2 10.2 3.3 3.3" />
    </>
  ),
  menu: <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />,
  close: <path d="m3.8 3.8 8.4 8.4M12.2 3.8l-8.4 8.4" />,
  copy: <path d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3" />,
  check: <path d="m3 8.5 3.2 3.2L13 4.8" />,
  plus: <path d="M8 3v10M3 8h10" />,
  chevron: <path d="m4.5 6.3 3.5 3.5 3.5-3.5" />,
  arrow: <path d="M3 8h9.5M8.8 4.2 12.6 8l-3.8 3.8" />,
  external: <path d="M6.5 3.5h-3v9h9v-3M9 2.8h4.2V7M13 3 7.5 8.5" />,
  download: <path d="M8 2.5v7.6M4.8 7.2 8 10.3l3.2-3.1M3 13.2h10" />,
  link: (
    <path d="M6.8 9.2 9.2 6.8M7.5 4.8l1.6-1.6a2.6 2.6 0 0 1 3.7 3.7l-1.6 1.6M8.5 11.2l-1.6 1.6a2.6 2.6 0 0 1-3.7-3.7l1.6-1.6" />
  ),
  warning: <path d="M8 2.3 14.2 13H1.8zM8 6.3v3.2M8 11.3v.1" />,
  info: (
    <>
      <circle cx="8" cy="8" r="5.7" />
      <path d="M8 7.3v3.6M8 5.1v.1" />
    </>
  ),
  project: <path d="M2.5 12.8V3.8h3.8l1.4 1.7h5.8v7.3z" />,
  more: <path strokeWidth="2.4" d="M3.5 8h.1M8 8h.1M12.5 8h.1" />,
  sun: (
    <>
      <circle cx="8" cy="8" r="2.8" />
      <path d="M8 1.8v1.4M8 12.8v1.4M1.8 8h1.4M12.8 8h1.4M3.6 3.6l1 1M11.4 11.4l1 1M3.6 12.4l1-1M11.4 4.6l1-1" />
    </>
  ),
  moon: <path d="M13.2 9.4A5.6 5.6 0 0 1 6.6 2.8a5.6 5.6 0 1 0 6.6 6.6z" />,
  leave: <path d="M6.5 2.8h-3v10.4h3M6.5 8h7M10.8 5.2 13.5 8l-2.7 2.8" />,
  api: <path d="m5 4-3 4 3 4M11 4l3 4-3 4M9 3.2 7 12.8" />,
  play: <path d="M4.8 3.2v9.6l7.6-4.8z" />,
  pause: <path d="M5.5 3.5v9M10.5 3.5v9" />,
  refresh: <path d="M13 8a5 5 0 1 1-1.6-3.7M13.2 2.5v2.8h-2.8" />,
  filter: <path d="M2.5 4h11M4.8 8h6.4M6.8 12h2.4" />,
} as const satisfies Record<string, ReactNode>;

export type IconName = keyof typeof SHAPES;

/** A picture beside a text. Hidden from assistive technology, because the text has its meaning. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {SHAPES[name]}
    </svg>
  );
}
