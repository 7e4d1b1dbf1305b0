// Original file: proto/tollgate/ledger/v1/ledger.proto

export const ChargeSource = {
  CHARGE_SOURCE_UNSPECIFIED: 'CHARGE_SOURCE_UNSPECIFIED',
  CHARGE_SOURCE_REPORTED: 'CHARGE_SOURCE_REPORTED',
  CHARGE_SOURCE_ESTIMATED: 'CHARGE_SOURCE_ESTIMATED',
  CHARGE_SOURCE_EXPIRED: 'CHARGE_SOURCE_EXPIRED',
  CHARGE_SOURCE_NONE: 'CHARGE_SOURCE_NONE',
} as const;

export type ChargeSource =
  | 'CHARGE_SOURCE_UNSPECIFIED'
  | 0
  | 'CHARGE_SOURCE_REPORTED'
  | 1
  | 'CHARGE_SOURCE_ESTIMATED'
  | 2
  | 'CHARGE_SOURCE_EXPIRED'
  | 3
  | 'CHARGE_SOURCE_NONE'
  | 4

export type ChargeSource__Output = typeof ChargeSource[keyof typeof ChargeSource]
