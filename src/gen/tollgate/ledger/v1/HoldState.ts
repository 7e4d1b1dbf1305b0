// Original file: proto/tollgate/ledger/v1/ledger.proto

export const HoldState = {
  HOLD_STATE_UNSPECIFIED: 'HOLD_STATE_UNSPECIFIED',
  HOLD_STATE_HELD: 'HOLD_STATE_HELD',
  HOLD_STATE_SETTLED: 'HOLD_STATE_SETTLED',
  HOLD_STATE_RELEASED: 'HOLD_STATE_RELEASED',
  HOLD_STATE_EXPIRED: 'HOLD_STATE_EXPIRED',
} as const;

export type HoldState =
  | 'HOLD_STATE_UNSPECIFIED'
  | 0
  | 'HOLD_STATE_HELD'
  | 1
  | 'HOLD_STATE_SETTLED'
  | 2
  | 'HOLD_STATE_RELEASED'
  | 3
  | 'HOLD_STATE_EXPIRED'
  | 4

export type HoldState__Output = typeof HoldState[keyof typeof HoldState]
